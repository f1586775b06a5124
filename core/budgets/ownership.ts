// Which Kubernetes object keeps a project (docs/kubernetes.md#projects-and-keys).
import { type Context, namesOfManifest, ServiceError, writingManifest } from '../kernel/index.ts';
import type { Project } from '../orgs/index.ts';

/**
 * Who keeps `project` after the write behind `context`: the object that writes, or nobody once it lets go. A write by
 * anybody else changes nothing about it: the object takes back what it does not like.
 * @throws ServiceError managed_elsewhere where another object keeps it.
 */
export function keeperAfter(context: Context, project: Project): string | null {
  const writer = writingManifest(context);
  if (writer === null) return project.managed_by;
  if (project.managed_by !== null && project.managed_by !== writer) {
    const { namespace, name } = namesOfManifest(project.managed_by);
    const message = `Project ${project.slug} is kept by the Kubernetes object Project ${namespace}/${name}.`;
    throw new ServiceError('managed_elsewhere', message, {
      details: { managed_by: project.managed_by, kind: 'Project', namespace, name },
    });
  }
  return context.requestHeader('x-svc-release') === '1' ? null : writer;
}
