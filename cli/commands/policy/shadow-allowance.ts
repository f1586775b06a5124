// What the platform pays for shadows of an organization in a day: shown, or set.
import { allowShadows, SHADOW_ALLOWANCE_MAX } from '@svc/core/desk/index.ts';
import { findAllowance, readSpending } from '@svc/core/policies/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    'micro-per-day': {
      type: 'integer',
      doc: 'micro-USD in a day (UTC); 0 ends it',
      min: 0,
      max: SHADOW_ALLOWANCE_MAX,
    },
    reason: { type: 'text', doc: 'the reason, which the audit log keeps', length_max: 500 },
  },
  example: 'svcctl policy shadow-allowance --org acme --micro-per-day 5000000 --reason "trial of ep_cheap"',
  async run(input) {
    const wanted = input.integer('micro-per-day');
    const reason = input.find('reason');
    if (wanted !== null && reason === null) throw new UsageError('--micro-per-day needs --reason');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id, slug } = await getOrg(context, input.get('org'));
      const daily_micro_usd = wanted === 0 ? null : wanted;
      const shown =
        wanted === null
          ? {
              daily_micro_usd: await findAllowance(context.db, id),
              ...(await readSpending(context.db, id, context.now())),
            }
          : await allowShadows(context, id, { daily_micro_usd, reason: reason ?? '' });
      const { daily_micro_usd: allowed, today_micro_usd, month_micro_usd, month_runs } = shown;
      const text = [
        slug,
        allowed === null ? 'the platform pays for no shadows' : `${allowed} micro-USD a day`,
        `spent  ${today_micro_usd} micro-USD today, ${month_micro_usd} in 30 days (${month_runs} shadows)`,
      ].join('\n');
      return { json: { id, slug, ...shown }, text };
    });
  },
};
