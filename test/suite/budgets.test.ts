import { expect, test } from 'vitest';
import { exceeded, parseBudgets, partOf, readBudgets } from './budgets.ts';

const budgets = parseBudgets(`
| Part | Budget | What |
|---|---|---|
| \`core\` | 10 | the product |
| \`core/ledger\` | 3 | money |
`);
const every = ['core/a.test.ts', 'core/keys/b.test.ts', 'core/ledger/c.test.ts', 'core/ledgers/d.test.ts'];
const took = (seconds: number) => ({ wall_ms: 1, cpu_ms: seconds * 1000 });

test('a file belongs to the longest folder of the table that it lies in', () => {
  expect(every.map((file) => partOf(file, budgets))).toEqual(['core', 'core', 'core/ledger', 'core']);
  expect(partOf('cli/e.test.ts', budgets)).toBeNull();
});

test('a part that has two budgets is refused: one of them would count, and nobody would know which', () => {
  expect(() => parseBudgets('| `cli` | 10 | one |\n| `cli` | 20 | other |\n')).toThrow('cli has two budgets');
});

test('a part that took more than its budget is reported, one that kept within it is not', () => {
  const durations = {
    'core/a.test.ts': took(6),
    'core/keys/b.test.ts': took(4),
    'core/ledger/c.test.ts': took(5),
  };
  expect(exceeded(budgets, durations, every, every)).toEqual([
    'core/ledger took 5 s of processor time, 2 s more than its budget of 3 s',
  ]);
});

test('a part that did not run whole is not reported', () => {
  const durations = { 'core/a.test.ts': took(60), 'core/ledger/c.test.ts': took(5) };
  expect(exceeded(budgets, durations, every, ['core/a.test.ts', 'core/ledger/c.test.ts'])).toEqual([
    'core/ledger took 5 s of processor time, 2 s more than its budget of 3 s',
  ]);
});

test('all budgets together leave two cores time for the servers and the checks within twenty-nine minutes', () => {
  const sum = [...readBudgets().values()].reduce((one, other) => one + other, 0);
  expect(sum).toBeLessThanOrEqual(2 * 29 * 60 - 300);
});
