// Who may write a policy that a manifest rules (docs/kubernetes.md#who-may-change-it).
import { type Context, namesOfManifest, orgCaller, ServiceError, writingManifest } from '../kernel/index.ts';
import { roleBehind } from '../keys/index.ts';
import type { PolicyRow } from './store.ts';

/** What the headers of a write say of its author. */
export interface Writer {
  /** `k8s/<cluster>/<namespace>/<name>`, or null for a person or a key of theirs. */
  readonly managed_by: string | null;
  readonly take_over: boolean;
  /** The manifest lets go: the policy is nobody's after this write. */
  readonly release: boolean;
}

/** A person by their role; a key by what its maker is now, or who made it could send it instead. */
function refuseTakeOver(context: Context): void {
  const role = roleBehind(orgCaller(context));
  // A service key acts for the installation.
  if (role === undefined || role === 'owner' || role === 'admin') return;
  throw new ServiceError('permission_denied', 'Only an owner or admin can take a policy over.', {
    details: { role },
  });
}

/**
 * The author of the write behind `context`.
 * @throws ServiceError invalid_request for a malformed manifest; permission_denied where the role may not take over.
 */
export async function writerOf(context: Context): Promise<Writer> {
  const managed_by = writingManifest(context);
  const take_over = context.requestHeader('x-svc-take-over') === '1';
  if (take_over) refuseTakeOver(context);
  const release = managed_by !== null && context.requestHeader('x-svc-release') === '1';
  return { managed_by, take_over, release };
}

/** Who created or activated something, for its row. */
export function actorOf(context: Context): string {
  const caller = orgCaller(context);
  return caller.kind === 'key' ? caller.key_id : caller.user_id;
}

/** The refusal that points at the manifest. */
function managedElsewhere(policy: PolicyRow, managed_by: string): ServiceError {
  const { namespace, name } = namesOfManifest(managed_by);
  const message =
    `Policy ${policy.name} is managed by the Kubernetes object RoutingPolicy ${namespace}/${name}: ` +
    'change it there, or take it over with the header x-svc-take-over: 1.';
  return new ServiceError('managed_elsewhere', message, {
    details: { managed_by, kind: 'RoutingPolicy', namespace, name },
  });
}

/**
 * Whom `policy` belongs to after a write of `writer`.
 * @throws ServiceError managed_elsewhere where another manifest rules it and it is not taken over.
 */
export function ownerAfter(context: Context, policy: PolicyRow | null, writer: Writer): string | null {
  const next = writer.release ? null : writer.managed_by;
  if (policy === null || policy.managed_by === null || policy.managed_by === writer.managed_by) return next;
  if (!writer.take_over) throw managedElsewhere(policy, policy.managed_by);
  const { name, managed_by } = policy;
  context.log.warn({ policy: name, managed_by, by: actorOf(context), next }, 'policy taken over');
  return next;
}
