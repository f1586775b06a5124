// Finds organizations and projects by the id or slug that a person typed.
import { type Context, ServiceError } from '@svc/core/kernel/index.ts';
import { findOrg, findProject, type Org, type Project } from '@svc/core/orgs/index.ts';

/** The organization with this id or slug. @throws ServiceError not_found. */
export async function getOrg(context: Context, id_or_slug: string): Promise<Org> {
  const org = await findOrg(context.db, id_or_slug);
  if (org === null)
    throw new ServiceError('not_found', `There is no organization ${JSON.stringify(id_or_slug)}.`);
  return org;
}

/** The project of `org` with this id or slug. @throws ServiceError not_found. */
export async function getProject(context: Context, org: Org, id_or_slug: string): Promise<Project> {
  const project = await findProject(context.db, { org_id: org.id, id: id_or_slug });
  if (project === null)
    throw new ServiceError('not_found', `${org.slug} has no project ${JSON.stringify(id_or_slug)}.`);
  return project;
}
