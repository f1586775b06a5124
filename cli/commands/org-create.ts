// Creates an organization with its books and a default project per environment.
import { createOrg, type PlanId, planIds } from '@svc/core/orgs/index.ts';
import { type Command, NAME, SLUG, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';

export const command: Command = {
  flags: {
    slug: { ...SLUG, doc: 'short name, unique over the whole service', required: true },
    name: { ...NAME, doc: 'name that people see', required: true },
    country: {
      type: 'text',
      doc: 'billing country, two letters',
      value: 'US',
      form: [/^[A-Z]{2}$/, 'two capital letters'],
      required: true,
    },
    // Organizations that staff create have a contract; those that sign up by themselves start with payg.
    plan: {
      type: 'text',
      doc: 'plan; default: enterprise, which has no limits of its own',
      value: 'enterprise',
      choices: planIds,
    },
    shard: {
      type: 'text',
      doc: 'ledger for its books; default: one of those that are open',
      value: 'NAME',
    },
  },
  example: 'svcctl org create --slug acme --name Acme --country US',
  async run(input) {
    const billing_country = input.get('country');
    const plan_id = (input.find('plan') ?? 'enterprise') as PlanId;
    const shard = input.find('shard');
    const json = await withDatabase(async (pool) => {
      if (shard !== null && !pool.shards.names.includes(shard))
        throw new UsageError(`there is no shard ${JSON.stringify(shard)}: ${pool.shards.names.join(', ')}`);
      return createOrg(await staffContext(pool), {
        slug: input.get('slug'),
        name: input.get('name'),
        billing_country,
        plan_id,
        ...(shard === null ? {} : { shard }),
      });
    });
    const text = `organization  ${json.id}  ${json.slug}\nproject       ${json.project_id}  live\nproject       ${json.test_project_id}  test`;
    return { json, text };
  },
};
