// Operations over projects and their budgets.
import { Type } from 'typebox';
import { changesOf, writeAudit } from '../identity/index.ts';
import {
  type Context,
  idOf,
  isId,
  listOf,
  Nothing,
  notFound,
  operation,
  orgCaller,
  refuseOtherVersion,
  ServiceError,
  sendVersion,
} from '../kernel/index.ts';
import { hasWorkingKeys } from '../keys/index.ts';
import { orderResumption } from '../ledger/index.ts';
import {
  archiveProject,
  createProject,
  listProjects,
  lockOrg,
  lockProject,
  type Org,
  type Project,
  projectLimits,
} from '../orgs/index.ts';
import { bookOf, changeProject } from './change.ts';
import { keeperAfter } from './ownership.ts';
import { getRunOperation } from './runs.ts';
import { CreateProjectInput, PatchProjectInput, ProjectView, projectExample } from './schema.ts';
import { numberOf, sightOf, viewProject, viewProjects } from './view.ts';

const readers = {
  kind: 'key',
  scopes: 'any',
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;
const writers = { kind: 'key', scopes: ['manage:keys'], session: ['owner', 'admin', 'developer'] } as const;
const byId = Type.Object({ id: idOf('project') });

/** What may change about a project, as the audit log shows it. */
const SETTINGS = [
  ...(['name', 'budget_monthly_micro', 'budget_hard', 'rpm', 'tpm', 'concurrency', 'alerts'] as const),
  'managed_by',
] as const;

/** Active projects the caller may see, `id` alone or all. */
function ownProjects(context: Context, id: string | null): Promise<Project[]> {
  const caller = orgCaller(context);
  return listProjects(context.db, { org_id: caller.org_id, environment: sightOf(caller), id });
}

/** The caller's organization, locked before its project: whoever changes budgets locks in this order. */
async function lockOwn(context: Context, id: string): Promise<{ org: Org; project: Project }> {
  const caller = orgCaller(context);
  if (!isId('project', id)) throw notFound();
  const org = await lockOrg(context.db, caller.org_id);
  const project = await lockProject(context.db, {
    ...{ org_id: caller.org_id, environment: sightOf(caller), id },
  });
  if (org === null || project === null) throw notFound();
  return { org, project };
}

function record(
  context: Context,
  action: string,
  project: Project,
  changes: { before?: Record<string, unknown>; after?: Record<string, unknown> } = {},
): Promise<void> {
  const target = { type: 'project', id: project.id, display: project.slug };
  return writeAudit(context, { action, org_id: project.org_id, target, ...changes });
}

export const listProjectsOperation = operation({
  name: 'projects.list',
  method: 'GET',
  path: '/v1/projects',
  summary: 'List active projects, oldest first; a test key sees those of the test environment',
  audience: readers,
  input: Type.Object({}),
  output: listOf(ProjectView),
  errors: [],
  example: { object: 'list', data: [projectExample] },
  run: async (context) => ({
    object: 'list' as const,
    data: await viewProjects(context, await ownProjects(context, null)),
  }),
});

const getProjectOperation = operation({
  name: 'projects.get',
  method: 'GET',
  path: '/v1/projects/:id',
  summary: 'Read an active project',
  audience: readers,
  input: byId,
  output: ProjectView,
  errors: [],
  versioned: true,
  example: projectExample,
  async run(context, { id }) {
    const [project] = isId('project', id) ? await ownProjects(context, id) : [];
    if (project === undefined) throw notFound();
    sendVersion(context, project.updated_at);
    return viewProject(context, project);
  },
});

export const createProjectOperation = operation({
  name: 'projects.create',
  method: 'POST',
  path: '/v1/projects',
  summary: 'Create a project',
  audience: writers,
  input: CreateProjectInput,
  output: ProjectView,
  errors: ['already_exists', 'plan_limit_reached', 'sandbox_key_not_allowed'],
  status: 201,
  idempotent: true,
  request: {
    ...{ slug: 'search-prod', name: 'Search', budget: { monthly_micro: 500_000_000, hard: true } },
    limits: { rpm: 1_200 },
  },
  example: {
    ...projectExample,
    slug: 'search-prod',
    name: 'Search',
    spend_today_micro: 0,
    spend_month_micro: 0,
  },
  async run(context, { slug, name, environment = 'live', ...settings }) {
    const caller = orgCaller(context);
    if (sightOf(caller) === 'test' && environment === 'live') {
      const words = 'A sandbox key makes projects of the test environment alone.';
      throw new ServiceError('sandbox_key_not_allowed', words, { param: 'environment' });
    }
    const made = await context.transaction(async (context) => {
      const org = await lockOrg(context.db, caller.org_id);
      if (org === null) throw notFound();
      const project = await createProject(context, org, { slug, name, environment });
      const kept = { ...project, managed_by: keeperAfter(context, project) };
      const stored = await changeProject(context, org, { project: kept, change: settings });
      const after = { slug, name, environment, ...projectLimits(stored) };
      await record(context, 'projects.create', stored, { after });
      return stored;
    });
    return viewProject(context, made);
  },
});

export const patchProjectOperation = operation({
  name: 'projects.update',
  method: 'PATCH',
  path: '/v1/projects/:id',
  summary: 'Change the name, budget, limits or alerts of a project',
  audience: writers,
  input: PatchProjectInput,
  output: ProjectView,
  errors: ['managed_elsewhere'],
  versioned: true,
  request: { budget: { monthly_micro: 750_000_000 } },
  example: { ...projectExample, budget: { monthly_micro: 750_000_000, hard: true } },
  async run(context, { id, ...change }) {
    const changed = await context.transaction(async (context) => {
      const { org, project } = await lockOwn(context, id);
      refuseOtherVersion(context, project.updated_at);
      const kept = { ...project, managed_by: keeperAfter(context, project) };
      const stored = await changeProject(context, org, { project: kept, change });
      await record(context, 'projects.update', stored, changesOf(project, stored, SETTINGS));
      return stored;
    });
    return viewProject(context, changed);
  },
});

export const resumeProjectOperation = operation({
  name: 'projects.resume',
  method: 'POST',
  path: '/v1/projects/:id/resume',
  summary: 'Let a project that its budget has stopped call again until the month ends',
  audience: writers,
  input: byId,
  output: ProjectView,
  errors: ['state_conflict'],
  example: projectExample,
  async run(context, { id }) {
    const resumed = await context.transaction(async (context) => {
      const { org, project } = await lockOwn(context, id);
      const place = { shard: org.shard, book_id: bookOf(org, project) };
      if (!(await orderResumption(context, place, { project_no: numberOf(project) }))) {
        const words = 'This project is not stopped by a hard budget in the current month.';
        throw new ServiceError('state_conflict', words);
      }
      await record(context, 'projects.resume', project);
      return project;
    });
    return viewProject(context, resumed);
  },
});

export const archiveProjectOperation = operation({
  name: 'projects.archive',
  method: 'DELETE',
  path: '/v1/projects/:id',
  summary: 'Archive a project without keys; its slug is free again',
  audience: { ...writers, session: ['owner', 'admin'] },
  input: byId,
  output: Nothing,
  errors: ['in_use', 'managed_elsewhere'],
  status: 204,
  versioned: true,
  example: {},
  async run(context, { id }) {
    await context.transaction(async (context) => {
      const { org, project } = await lockOwn(context, id);
      refuseOtherVersion(context, project.updated_at);
      keeperAfter(context, project);
      const at = context.now();
      if (await hasWorkingKeys(context.db, { org_id: org.id, project_id: project.id, now: at })) {
        throw new ServiceError('in_use', 'The project has active keys. Revoke them first.');
      }
      await archiveProject(context.db, { org_id: org.id, id: project.id, at });
      await record(context, 'projects.archive', project);
    });
    return {};
  },
});

export const budgetOperations = [
  listProjectsOperation,
  getProjectOperation,
  createProjectOperation,
  patchProjectOperation,
  archiveProjectOperation,
  resumeProjectOperation,
  getRunOperation,
] as const;
