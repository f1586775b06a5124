// Results as a JUnit report, which CI systems show beside other tests.
import type { ResultShown, RunShown } from './gateway.ts';
import { targetName } from './words.ts';

const OUTPUT_MAX = 4_000;

/** Text inside of XML; characters that XML does not have are left out. */
function xml(text: string): string {
  const allowed = text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '');
  const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return allowed.replace(/[&<>"]/g, (mark) => marks[mark] as string);
}

function testCase(result: ResultShown, suite: string): string {
  const { case_id, repeat_index, status, grader_kind, grader_detail, output, error_code, duration_ms } =
    result;
  const name = repeat_index === 0 ? case_id : `${case_id} (repeat ${repeat_index + 1})`;
  const time = ((duration_ms ?? 0) / 1_000).toFixed(3);
  const head = `    <testcase classname="${xml(suite)}" name="${xml(name)}" time="${time}"`;
  if (status === 'passed') return `${head}/>`;
  if (status === 'skipped') return `${head}><skipped/></testcase>`;
  if (status === 'error') return `${head}><error message="${xml(error_code)}"/></testcase>`;
  const answer = output === null ? '' : xml(output.slice(0, OUTPUT_MAX));
  const message = `${grader_kind} ${JSON.stringify(grader_detail)}`;
  return `${head}><failure message="${xml(message)}">${answer}</failure></testcase>`;
}

/** The report of a run: a test suite for each of its targets. */
export function junitOf(run: RunShown, results: readonly ResultShown[]): string {
  const suites = run.targets.map((target) => {
    const own = results.filter(
      (one) => one.target.model === target.model && one.target.endpoint === target.endpoint,
    );
    const count = (status: ResultShown['status']) => own.filter((one) => one.status === status).length;
    const name = `${run.suite_name}: ${targetName(target)}`;
    return [
      `  <testsuite name="${xml(name)}" tests="${own.length}" failures="${count('failed')}"` +
        ` errors="${count('error')}" skipped="${count('skipped')}">`,
      ...own.map((one) => testCase(one, name)),
      '  </testsuite>',
    ].join('\n');
  });
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...suites, '</testsuites>', ''].join(
    '\n',
  );
}
