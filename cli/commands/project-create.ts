// Creates a project of an organization.
import type { Environment } from '@svc/core/kernel/index.ts';
import { createProject, lockOrg, updateProject } from '@svc/core/orgs/index.ts';
import { type Command, NAME, SLUG } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';
import { limitFlags, limitsGiven } from './limits/flags.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    slug: { ...SLUG, doc: 'short name, unique in the organization', required: true },
    name: { ...NAME, doc: 'name that people see; default: the slug' },
    environment: { type: 'text', doc: 'default: live', choices: ['live', 'test'] },
    ...limitFlags('of all its keys together'),
  },
  example: 'svcctl project create --org acme --slug chatbot --rpm 600',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id } = await getOrg(context, input.get('org'));
      const project = await context.transaction(async (context) => {
        const org = await lockOrg(context.db, id);
        if (org === null) throw new Error('the organization is gone');
        const made = await createProject(context, org, {
          slug: input.get('slug'),
          name: input.find('name') ?? input.get('slug'),
          environment: (input.find('environment') ?? 'live') as Environment,
        });
        return updateProject(context.db, { ...made, ...limitsGiven(input) }, made.created_at);
      });
      const { rpm, tpm, concurrency } = project;
      const json = {
        ...{ id: project.id, org_id: id, slug: project.slug, environment: project.environment },
        limits: { rpm, tpm, concurrency },
      };
      return { json, text: `project  ${project.id}  ${project.slug}  ${project.environment}` };
    });
  },
};
