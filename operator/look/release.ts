// What to do about a RoutingPolicy that is being deleted. Pure, like decide.ts.

import { annotations, isAnnotated, type RoutingPolicy } from '../types.ts';
import { type PolicyState, projectOf, rulingVersion } from './decide.ts';

/** How long an object of a namespace that ends waits for a service or a Secret that may be gone for good. */
export const PATIENCE_MS = 30_000;

export type Release =
  /** The finalizer goes; `orphaned` says why the service was left as it is. */
  | { readonly kind: 'free'; readonly orphaned: string | null }
  /** The service is asked to deactivate and release the policy; the next wider policy then applies to the scope. */
  | { readonly kind: 'deactivate'; readonly project_id: string | null }
  /** The service is asked to forget who manages the policy; its version stays in force. */
  | { readonly kind: 'retain'; readonly project_id: string | null; readonly version: number };

/** Whether the object is let go without asking the service; null where the service must be asked. */
export function decideUnasked(object: RoutingPolicy): Release | null {
  if (isAnnotated(object, annotations.force_delete)) {
    return { kind: 'free', orphaned: `released by the annotation ${annotations.force_delete}` };
  }
  if (isAnnotated(object, annotations.suspend)) {
    return { kind: 'free', orphaned: `released as it is: suspended by ${annotations.suspend}` };
  }
  return null;
}

/** What to ask of the service about the policy that it has. */
export function decideRelease(object: RoutingPolicy, manifest: string, state: PolicyState | null): Release {
  // Taken over or deleted by somebody else: it is theirs now.
  if (state === null || state.managed_by !== manifest) return { kind: 'free', orphaned: null };
  const project_id = projectOf(object);
  const ruling = rulingVersion(object, state);
  if (object.spec.deletionPolicy === 'Retain' && ruling !== null) {
    return { kind: 'retain', project_id, version: ruling.version };
  }
  return { kind: 'deactivate', project_id };
}

/**
 * Whether an object that waits for the service is let go after all: its namespace ends, and waiting for a Secret that
 * ended with it would keep the namespace for ever. Elsewhere an object waits until the service is back.
 */
export function decideStuck(
  wait: { readonly namespace_ends: boolean; readonly waited_ms: number },
  message: string,
): Release | null {
  if (!wait.namespace_ends || wait.waited_ms < PATIENCE_MS) return null;
  return { kind: 'free', orphaned: `its namespace ends and the service cannot be reached: ${message}` };
}
