// Sets what an organization may use beyond its plan, whoever asked.
import { overrideLimits } from '@svc/core/support/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';
import { limitFlags, limitsGiven } from './flags.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    ...limitFlags('beyond the plan; 0 withdraws it', 0),
    reason: { type: 'text', doc: 'the reason, which the audit log keeps', length_max: 500, required: true },
  },
  example: 'svcctl limits override --org acme --rpm 900 --reason "agreed for the sale"',
  async run(input) {
    const given = limitsGiven(input);
    if (Object.keys(given).length === 0)
      throw new UsageError('nothing to set: name --rpm, --tpm or --concurrency');
    const limits = Object.fromEntries(Object.entries(given).map(([name, n]) => [name, n === 0 ? null : n]));
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id, slug } = await getOrg(context, input.get('org'));
      const limit_overrides = await overrideLimits(context, {
        ...{ org_id: id, limits, reason: input.get('reason') },
      });
      const shown = Object.entries(limit_overrides).map(([name, n]) => `${name}  ${n}`);
      const text = [slug, ...(shown.length === 0 ? ['nothing beyond the plan'] : shown)].join('\n');
      return { json: { id, slug, limit_overrides }, text };
    });
  },
};
