// Copies rows of calls from PostgreSQL to ClickHouse while calls run.
import { backfill, type CopiedDay } from '@svc/core/analytics/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { findInstallation, withDatabase } from '../../installation.ts';

const DAY = [/^\d{4}-\d{2}-\d{2}$/, 'a day, YYYY-MM-DD'] as const;

const lineOf = ({ day, copied, rows, cost_micro, metered_micro, is_equal }: CopiedDay) => {
  const verdict = is_equal ? 'equal' : `DIFFERS: metered ${metered_micro}`;
  return `${day}  ${copied} copied, ${rows} rows, ${cost_micro} micro-USD  ${verdict}`;
};

export const command: Command = {
  flags: {
    from: {
      type: 'text',
      doc: 'first day (UTC); default: the first that has a row',
      value: 'DAY',
      form: DAY,
    },
    to: {
      type: 'text',
      doc: 'last day, included; default: the last that has a row',
      value: 'DAY',
      form: DAY,
    },
  },
  example: 'svcctl analytics backfill --from 2026-11-01',
  async run(input) {
    const { analytics_url: url } = findInstallation().config;
    if (url === null) throw new UsageError('SVC_ANALYTICS_URL names no ClickHouse to copy to');
    return withDatabase(async (pool) => {
      const days: CopiedDay[] = [];
      for await (const day of backfill(pool, { url, from: input.find('from'), to: input.find('to') })) {
        days.push(day);
        // Progress is for people, and no part of what a program reads.
        process.stderr.write(`${lineOf(day)}\n`);
      }
      const differ = days.filter(({ is_equal }) => !is_equal).map(({ day }) => day);
      const text =
        differ.length === 0
          ? `${days.length} days: both stores have the same rows, and their cost is what was metered.`
          : `DIFFERS on ${differ.join(', ')}.`;
      return { json: { days, differ }, text, ok: differ.length === 0 };
    });
  },
};
