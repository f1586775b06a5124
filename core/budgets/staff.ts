// What operators set of a project by hand.
import { changesOf, writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound } from '../kernel/index.ts';
import { lockOrg, lockProject, type Project } from '../orgs/index.ts';
import { changeProject } from './change.ts';

type Limits = Partial<Pick<Project, 'rpm' | 'tpm' | 'concurrency'>>;

/**
 * Sets limits of all keys of a project together; null withdraws one, what is left out stays. Gateways follow within a
 * second. @throws ServiceError not_found.
 */
export function setProjectLimits(
  context: Context,
  args: { org_id: Id<'org'>; project_id: Id<'project'>; limits: Limits; reason: string | null },
): Promise<Project> {
  const { org_id, project_id: id, limits, reason } = args;
  return context.transaction(async (context) => {
    const org = await lockOrg(context.db, org_id);
    const project = await lockProject(context.db, { org_id, environment: null, id });
    if (org === null || project === null) throw notFound();
    const stored = await changeProject(context, org, { project, change: { limits } });
    await writeAudit(context, {
      ...{ action: 'staff.projects.update', org_id, target: { type: 'project', id, display: project.slug } },
      ...changesOf(project, stored, ['rpm', 'tpm', 'concurrency']),
      ...(reason === null ? {} : { reason }),
    });
    return stored;
  });
}
