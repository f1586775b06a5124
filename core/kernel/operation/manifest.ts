// Objects of Kubernetes that write to the service name themselves, so that what they manage shows it.
import { invalid } from '../schema/schema.ts';
import type { Context } from './operation.ts';

const MANIFEST = /^k8s\/[A-Za-z0-9.-]{1,64}\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/;

/**
 * The object that a write comes from, `k8s/<cluster>/<namespace>/<name>`; null for a person or a key of theirs.
 * @throws ServiceError invalid_request for a malformed one.
 */
export function writingManifest(context: Context): string | null {
  const managed_by = context.requestHeader('x-svc-managed-by');
  if (managed_by === null || MANIFEST.test(managed_by)) return managed_by;
  throw invalid('x-svc-managed-by', 'format', 'x-svc-managed-by is k8s/<cluster>/<namespace>/<name>.');
}

/** Namespace and name out of a manifest. */
export function namesOfManifest(managed_by: string): { namespace: string; name: string } {
  const [, namespace = '', name = ''] = MANIFEST.exec(managed_by) ?? [];
  return { namespace, name };
}
