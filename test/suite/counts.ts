// The counts that the last line of `make test` adds up.

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** One line for each failure. */
  readonly faults: readonly string[];
  /** Tests that failed when run beside others and passed when run alone, one line each; counted as passed. */
  readonly unsteady?: readonly string[];
}

/** The counts of a program whose exit code is its whole result. */
export function oneCheck(name: string, code: number): Counts {
  return code === 0 ? { passed: 1, failed: 0, faults: [] } : { passed: 0, failed: 1, faults: [name] };
}

/** The counts of a suite that ended without a report. */
export function crashed(name: string): Counts {
  return { passed: 0, failed: 1, faults: [`${name}: ended without a report`] };
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

type FileResult = Report['testResults'][number];

const hasFailed = (file: FileResult) =>
  file.status === 'failed' || file.assertionResults.some(({ status }) => status === 'failed');

/** The files in vitest's JSON report in which something failed. */
export function failedFiles(text: string): string[] {
  return (JSON.parse(text) as Report).testResults.filter(hasFailed).map(({ name }) => name);
}

/** The tests that failed in `text` and passed in `again`, a later report of the same files, one line each. */
export function unsteadyTests(text: string, again: string): string[] {
  const later = new Map((JSON.parse(again) as Report).testResults.map((file) => [file.name, file]));
  return (JSON.parse(text) as Report).testResults.filter(hasFailed).flatMap((file) => {
    const second = later.get(file.name);
    if (second === undefined || hasFailed(second)) return [];
    const tests = file.assertionResults.filter(({ status }) => status === 'failed');
    return tests.length === 0
      ? [`${file.name}: ${file.message ?? 'failed outside of its tests'}`]
      : tests.map(({ fullName }) => `${file.name}: ${fullName}`);
  });
}

/** The report `text`, with its results for the files that `again` ran replaced by the later ones. */
export function mergedReport(text: string, again: string): string {
  const report = JSON.parse(text) as Report;
  const later = new Map((JSON.parse(again) as Report).testResults.map((file) => [file.name, file]));
  return JSON.stringify({ testResults: report.testResults.map((file) => later.get(file.name) ?? file) });
}

/**
 * The counts of vitest's JSON report and exit code. A skipped or todo test counts as failed, and so do a file that
 * failed before its first test and an error outside every test.
 */
export function countVitest(text: string, code: number): Counts {
  const report = JSON.parse(text) as Report;
  let passed = 0;
  const faults: string[] = [];
  for (const file of report.testResults) {
    const before = faults.length;
    for (const test of file.assertionResults) {
      if (test.status === 'passed') passed++;
      else faults.push(`${file.name}: ${test.fullName} (${test.status})`);
    }
    if (file.status === 'failed' && faults.length === before)
      faults.push(`${file.name}: ${(file.message ?? 'failed outside of its tests').split('\n')[0]}`);
  }
  if (code !== 0 && faults.length === 0) faults.push(`tests: vitest ended with ${code}, see its output`);
  return { passed, failed: faults.length, faults };
}
