// Makes an organisation with its books and a default project per environment.
import { createOrg, type PlanId, planIds } from '@svc/core/orgs/index.ts';
import { type Command, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';

export const command: Command = {
  flags: {
    slug: { type: 'text', doc: 'short name, unique over the whole service', required: true },
    name: { type: 'text', doc: 'name that people see', required: true },
    country: { type: 'text', doc: 'billing country, two letters', value: 'US', required: true },
    // Who is made by hand is under agreement; who signs up alone begins with payg.
    plan: {
      type: 'text',
      doc: 'plan; enterprise has no limits of its own',
      value: 'enterprise',
      choices: planIds,
    },
  },
  example: 'svcctl org create --slug acme --name Acme --country US',
  async run(input) {
    const billing_country = input.get('country');
    if (!/^[A-Z]{2}$/.test(billing_country))
      throw new UsageError(`--country takes two capital letters, got ${JSON.stringify(billing_country)}`);
    if (!/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/.test(input.get('slug')))
      throw new UsageError('--slug takes up to 40 of a-z, 0-9 and inner hyphens');
    const plan_id = input.get('plan') as PlanId;
    const json = await withDatabase(async (pool) =>
      createOrg(await staffContext(pool), {
        slug: input.get('slug'),
        name: input.get('name'),
        billing_country,
        plan_id,
      }),
    );
    const text = `organization  ${json.id}  ${json.slug}\nproject       ${json.project_id}  live\nproject       ${json.test_project_id}  test`;
    return { json, text };
  },
};
