// Creates a project of an organization.
import type { Environment } from '@svc/core/kernel/index.ts';
import { createProject, lockOrg } from '@svc/core/orgs/index.ts';
import { type Command, NAME, SLUG } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    slug: { ...SLUG, doc: 'short name, unique in the organization', required: true },
    name: { ...NAME, doc: 'name that people see; default: the slug' },
    environment: { type: 'text', doc: 'default: live', choices: ['live', 'test'] },
  },
  example: 'svcctl project create --org acme --slug chatbot',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id } = await getOrg(context, input.get('org'));
      const project = await context.transaction(async (context) => {
        const org = await lockOrg(context.db, id);
        if (org === null) throw new Error('the organization is gone');
        return createProject(context, org, {
          slug: input.get('slug'),
          name: input.find('name') ?? input.get('slug'),
          environment: (input.find('environment') ?? 'live') as Environment,
        });
      });
      const json = { id: project.id, org_id: id, slug: project.slug, environment: project.environment };
      return { json, text: `project  ${project.id}  ${project.slug}  ${project.environment}` };
    });
  },
};
