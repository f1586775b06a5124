import { expect, test } from 'vitest';
import { countVitest, oneCheck } from './counts.ts';

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

test('a file that breaks before its first test counts as one failure', () => {
  const text = JSON.stringify({
    testResults: [
      { name: 'b.test.ts', status: 'failed', message: 'no such module\nat x', assertionResults: [] },
    ],
  });
  expect(countVitest(text, 1)).toEqual({ passed: 0, failed: 1, faults: ['b.test.ts: no such module'] });
});

test('an error outside of every test fails the run though all tests passed', () => {
  expect(countVitest(report('passed'), 1).failed).toBe(1);
});

test('a program counts as one by its exit code', () => {
  expect(oneCheck('types', 0)).toMatchObject({ passed: 1, failed: 0 });
  expect(oneCheck('types', 2)).toMatchObject({ passed: 0, failed: 1, faults: ['types'] });
});
