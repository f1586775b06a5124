// Compares the ledger of one organization with the request rows of its calls, day by day.
import { rangeOf, reconcile, reconciliationCsv, viewReconciliation } from '@svc/core/credits/index.ts';
import type { Environment } from '@svc/core/kernel/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

const DAY = [/^\d{4}-\d{2}-\d{2}$/, 'a day, YYYY-MM-DD'] as const;

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    environment: { type: 'text', doc: 'default: live', choices: ['live', 'test'] },
    from: { type: 'text', doc: 'first day (UTC); default: 29 days before the last', value: 'DAY', form: DAY },
    to: { type: 'text', doc: 'last day, included; default: today', value: 'DAY', form: DAY },
  },
  example: 'svcctl credits reconcile --org acme --from 2026-11-01 --to 2026-11-30',
  async run(input) {
    const environment = (input.find('environment') ?? 'live') as Environment;
    const [from, to] = [input.find('from'), input.find('to')];
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const asked = { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
      const range = rangeOf(asked, context.now());
      const org = await getOrg(context, input.get('org'));
      const report = viewReconciliation(range, await reconcile(context, { org, environment, ...range }));
      const off = report.days.filter(({ variance_micro }) => variance_micro !== 0).map(({ day }) => day);
      const ok = report.analytics && off.length === 0;
      const verdict = off.length === 0 ? 'variance 0' : `DIFFERS on ${off.join(', ')}`;
      const sentence = report.analytics ? verdict : 'NOT COMPARED: request rows cannot be read';
      return { json: report, text: `${reconciliationCsv(report).replaceAll('\r', '')}${sentence}`, ok };
    });
  },
};
