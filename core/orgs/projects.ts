// Reading projects.
import { type Static, Type } from 'typebox';
import {
  type Context,
  idOf,
  isId,
  listOf,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  Time,
} from '../kernel/index.ts';
import { listProjects } from './store.ts';
import type { Project } from './types.ts';

const audience = {
  kind: 'key',
  scopes: 'any',
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;

export const projectStatuses = ['active', 'archived'] as const;

export const ProjectView = named(
  'Project',
  Type.Object({
    id: idOf('project'),
    org_id: idOf('org'),
    slug: Type.String(),
    name: Type.String(),
    environment: oneOf(['live', 'test'], 'Environment'),
    status: oneOf(projectStatuses, 'ProjectStatus'),
    budget: Type.Object({ monthly_micro: nullable(Type.Integer()), hard: Type.Boolean() }),
    alerts: Type.Array(Type.Integer()),
    created_at: Time,
  }),
);
export type ProjectView = Static<typeof ProjectView>;

const example = {
  id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  slug: 'default',
  name: 'default',
  environment: 'live',
  status: 'active',
  budget: { monthly_micro: null, hard: true },
  alerts: [50, 80, 100],
  created_at: '2026-11-21T10:00:00.000Z',
} satisfies ProjectView;

function view(project: Project): ProjectView {
  return {
    id: project.id,
    org_id: project.org_id,
    slug: project.slug,
    name: project.name,
    environment: project.environment,
    status: project.status,
    budget: { monthly_micro: project.budget_monthly_micro, hard: project.budget_hard },
    alerts: [...project.alerts],
    created_at: project.created_at.toISOString(),
  };
}

/** Active projects the caller may see, `id` alone or all. */
async function ownProjects(context: Context, id: string | null): Promise<ProjectView[]> {
  const caller = orgCaller(context);
  const environment = caller.kind === 'key' && caller.environment === 'test' ? 'test' : null;
  const projects = await listProjects(context.db, { org_id: caller.org_id, environment, id });
  return projects.map(view);
}

export const listProjectsOperation = operation({
  name: 'projects.list',
  method: 'GET',
  path: '/v1/projects',
  summary: 'List active projects, oldest first; a test key sees those of the test environment',
  audience,
  input: Type.Object({}),
  output: listOf(ProjectView),
  errors: [],
  example: { object: 'list', data: [example] },
  run: async (context) => ({ object: 'list' as const, data: await ownProjects(context, null) }),
});

export const getProjectOperation = operation({
  name: 'projects.get',
  method: 'GET',
  path: '/v1/projects/:id',
  summary: 'Read an active project',
  audience,
  input: Type.Object({ id: idOf('project') }),
  output: ProjectView,
  errors: [],
  example,
  async run(context, { id }) {
    const [project] = isId('project', id) ? await ownProjects(context, id) : [];
    if (project === undefined) throw notFound();
    return project;
  },
});
