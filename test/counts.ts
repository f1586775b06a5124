// What the closing line of `make test` adds up.

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** One line for each failure. */
  readonly faults: readonly string[];
}

/** A program whose exit code is its whole result counts as one. */
export function oneCheck(name: string, code: number): Counts {
  return code === 0 ? { passed: 1, failed: 0, faults: [] } : { passed: 0, failed: 1, faults: [name] };
}

/** A suite that ended without a report. */
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

/**
 * Counts of vitest's JSON report and exit code. A test that was skipped or left to do counts as failed, and so do
 * a file that failed before its first test and an error outside of every test.
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
