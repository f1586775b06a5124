// The project of a policy that names a Project object. Which one it is, is noted in the status before anything is written to
// the service: so the policy is taken back from that project and no other, whatever becomes of the Project object.
import { type ProjectObject, plurals } from '../access/types.ts';
import { ApiFault, type KubernetesApi } from '../cluster/kubernetes.ts';
import type { RoutingPolicy } from '../types.ts';
import { Blocked, objectPath } from './gather.ts';

/** The id that Project `name` of the policy's namespace has in the service. @throws Blocked, ApiFault. */
async function resolve(api: KubernetesApi, namespace: string, name: string): Promise<string> {
  const notReady = (why: string) =>
    new Blocked({ reason: 'ProjectNotReady', message: `spec.scope.projectRef: ${why}` });
  try {
    const at = objectPath({ namespace, name }, plurals.Project);
    const { metadata, status } = await api.ask<ProjectObject>('GET', at);
    if (metadata.deletionTimestamp !== undefined) throw notReady(`Project ${name} is being deleted`);
    if (status?.projectId !== undefined) return status.projectId;
    throw notReady(`Project ${name} has no project yet`);
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.status === 404) throw notReady(`there is no Project ${namespace}/${name}`);
    if (error.status === 403)
      throw notReady('the operator may not read Projects; it manages them with --manage Project');
    throw error;
  }
}

/**
 * `object` with its project noted in the status; as it is where it names none. `note` writes the status.
 * @throws Blocked where there is no project yet, or it is another one than before; ApiFault.
 */
export async function withProject(
  api: KubernetesApi,
  object: RoutingPolicy,
  note: (project_id: string) => Promise<RoutingPolicy>,
): Promise<RoutingPolicy> {
  const { projectRef } = object.spec.scope;
  if (projectRef === undefined) return object;
  const project_id = await resolve(api, object.metadata.namespace, projectRef.name);
  const noted = object.status?.projectId;
  if (noted === undefined) return note(project_id);
  if (noted === project_id) return object;
  const message =
    `spec.scope.projectRef: Project ${projectRef.name} is project ${project_id} now, and this policy is of ${noted}; ` +
    'a scope cannot be changed: delete the policy and apply it again';
  throw new Blocked({ reason: 'InvalidSpec', message });
}
