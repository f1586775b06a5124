import { describe, expect, test } from 'vitest';
import { countVitest, failedFiles, mergedReport, oneCheck, unsteadyTests } from './counts.ts';

function report(...statuses: string[]): string {
  const assertionResults = statuses.map((status, at) => ({ status, fullName: `test ${at}` }));
  return JSON.stringify({ testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults }] });
}

test('passed tests are counted and leave no fault', () => {
  expect(countVitest(report('passed', 'passed'), 0)).toEqual({ passed: 2, failed: 0, faults: [] });
});

test('a skipped test counts as failed and is named', () => {
  expect(countVitest(report('passed', 'skipped', 'todo'), 0)).toMatchObject({
    passed: 1,
    failed: 2,
    faults: ['a.test.ts: test 1 (skipped)', 'a.test.ts: test 2 (todo)'],
  });
});

test('a file that fails before its first test counts as one failure', () => {
  const text = JSON.stringify({
    testResults: [
      { name: 'b.test.ts', status: 'failed', message: 'no such module\nat x', assertionResults: [] },
    ],
  });
  expect(countVitest(text, 1)).toEqual({ passed: 0, failed: 1, faults: ['b.test.ts: no such module'] });
});

test('an error outside every test fails the run although all tests passed', () => {
  expect(countVitest(report('passed'), 1).failed).toBe(1);
});

describe('a second run of the files that failed, alone', () => {
  const file = (name: string, ...statuses: string[]) => ({
    name,
    status: statuses.includes('failed') ? 'failed' : 'passed',
    assertionResults: statuses.map((status, at) => ({ status, fullName: `test ${at}` })),
  });
  const reportOf = (...testResults: ReturnType<typeof file>[]) => JSON.stringify({ testResults });
  const first = reportOf(file('a.ts', 'passed', 'failed'), file('b.ts', 'failed'), file('c.ts', 'passed'));

  test('covers those files only', () => {
    expect(failedFiles(first)).toEqual(['a.ts', 'b.ts']);
  });

  test('counts what then passes as passed and names it as unsteady', () => {
    const again = reportOf(file('a.ts', 'passed', 'passed'), file('b.ts', 'passed'));
    expect(countVitest(mergedReport(first, again), 0)).toEqual({ passed: 4, failed: 0, faults: [] });
    expect(unsteadyTests(first, again)).toEqual(['a.ts: test 1', 'b.ts: test 0']);
  });

  test('leaves what fails again a failure', () => {
    const again = reportOf(file('a.ts', 'passed', 'failed'), file('b.ts', 'passed'));
    expect(countVitest(mergedReport(first, again), 1)).toMatchObject({
      passed: 3,
      faults: ['a.ts: test 1 (failed)'],
    });
    expect(unsteadyTests(first, again)).toEqual(['b.ts: test 0']);
  });

  test('does not count a file that it did not report', () => {
    expect(countVitest(mergedReport(first, reportOf()), 1).failed).toBe(2);
    expect(unsteadyTests(first, reportOf())).toEqual([]);
  });
});

test('a program counts as one check, by its exit code', () => {
  expect(oneCheck('types', 0)).toMatchObject({ passed: 1, failed: 0 });
  expect(oneCheck('types', 2)).toMatchObject({ passed: 0, failed: 1, faults: ['types'] });
});
