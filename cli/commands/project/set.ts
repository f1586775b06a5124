// Sets what all keys of a project may call together.
import { setProjectLimits } from '@svc/core/budgets/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg, getProject } from '../../lookup.ts';
import { limitFlags, limitsGiven } from '../limits/flags.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    project: { type: 'text', doc: 'id or slug', required: true },
    ...limitFlags('of all its keys together; 0 withdraws it', 0),
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500 },
  },
  example: 'svcctl project set --org acme --project chatbot --rpm 600',
  async run(input) {
    const given = limitsGiven(input);
    if (Object.keys(given).length === 0)
      throw new UsageError('nothing to set: name --rpm, --tpm or --concurrency');
    const limits = Object.fromEntries(Object.entries(given).map(([name, n]) => [name, n === 0 ? null : n]));
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const org = await getOrg(context, input.get('org'));
      const { id } = await getProject(context, org, input.get('project'));
      const stored = await setProjectLimits(context, {
        ...{ org_id: org.id, project_id: id, limits, reason: input.find('reason') },
      });
      const { slug, rpm, tpm, concurrency } = stored;
      const shown = Object.entries({ rpm, tpm, concurrency }).map(
        ([name, n]) => `${name}  ${n ?? 'no limit'}`,
      );
      const json = { id, org_id: org.id, slug, limits: { rpm, tpm, concurrency } };
      return { json, text: [slug, ...shown].join('\n') };
    });
  },
};
