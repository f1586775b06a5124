// The trial balance: the double-entry books that follow from ledger, payments and documents.
import { ACCOUNTS, type TrialBalance, trialBalance } from '@svc/core/accounting/index.ts';
import { now, shiftClock } from '@svc/core/kernel/index.ts';
import { readClockShift } from '@svc/core/runtime/index.ts';
import { type Command, type Input, UsageError } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The first moment of a day, UTC; of `after` the day that follows. */
function dayOf(input: Input, flag: 'from' | 'to', after: 0 | 1): Date | null {
  const text = input.find(flag);
  if (text === null) return null;
  const day = new Date(`${text}T00:00:00Z`);
  if (!DAY.test(text) || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text))
    throw new UsageError(`--${flag} takes a day like 2026-11-21, got ${JSON.stringify(text)}`);
  day.setUTCDate(day.getUTCDate() + after);
  return day;
}

/** Millionths as a decimal with six places. */
function decimal(amount: bigint): string {
  const size = amount < 0n ? -amount : amount;
  return `${amount < 0n ? '-' : ''}${size / 1_000_000n}.${String(size % 1_000_000n).padStart(6, '0')}`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const cell = (text: string, i: number) => (i < 3 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!));
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}

function textOf({ lines, controls, ok }: TrialBalance): string {
  const rows = lines.map(({ account, currency, opening, debit, credit, closing }) => [
    ...[currency, account, ACCOUNTS[account].type],
    ...[opening, debit, credit, closing].map(decimal),
  ]);
  const heads = ['', 'account', 'type', 'opening', 'debit', 'credit', 'closing'];
  const checks = controls.map(({ name, currency, expected, found }) =>
    expected === found
      ? `right: ${name} (${currency})`
      : `DIFFERS: ${name} (${currency}): ${decimal(found)}, by the accounts ${decimal(expected)}`,
  );
  return [table([heads, ...rows]), '', ...checks, ok ? 'right' : 'NOT RIGHT'].join('\n');
}

/** Amounts as text of a decimal: JSON's numbers would round them. */
function jsonOf({ from, to, lines, controls, ok }: TrialBalance): object {
  return {
    ...{ ok, from, to },
    lines: lines.map(({ account, currency, opening, debit, credit, closing }) => ({
      ...{ account, type: ACCOUNTS[account].type, currency },
      ...{ opening: decimal(opening), debit: decimal(debit), credit: decimal(credit) },
      closing: decimal(closing),
    })),
    controls: controls.map(({ name, currency, expected, found }) => ({
      ...{ name, currency, expected: decimal(expected), found: decimal(found), ok: expected === found },
    })),
  };
}

export const command: Command = {
  flags: {
    from: { type: 'text', doc: 'first day (UTC); without it from the beginning', value: 'DAY' },
    to: { type: 'text', doc: 'last day (UTC), included; without it until now', value: 'DAY' },
  },
  example: 'svcctl ledger trial-balance --from 2026-11-01 --to 2026-11-30',
  async run(input) {
    const [from, until] = [dayOf(input, 'from', 0), dayOf(input, 'to', 1)];
    const found = await withDatabase(async (pool) => {
      shiftClock(await readClockShift(pool));
      const time = now();
      const current = until === null || until > time;
      // What has the time of this very millisecond is in it too.
      return trialBalance(pool, { from, to: current ? new Date(time.getTime() + 1) : until, current });
    });
    return { json: jsonOf(found), text: textOf(found), ok: found.ok };
  },
};
