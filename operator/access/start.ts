// While an operator leads: an informer and a queue for each kind besides policies that it manages.
import { type Informer, startInformer } from '../cluster/informer.ts';
import { type Queue, startQueue } from '../cluster/queue.ts';
import { GROUP, VERSION } from '../types.ts';
import { keyKind } from './key.ts';
import { projectKind } from './project.ts';
import { type AccessParts, AccessReconciler, type Kind } from './reconcile.ts';
import { type AccessKind, type AccessObject, plurals } from './types.ts';

interface Options extends AccessParts {
  readonly workers: number;
  readonly backoff: { backoff_first_ms: number; backoff_max_ms: number; random(): number };
  /** None: all. */
  readonly namespaces: readonly string[];
}

export interface AccessRun {
  readonly kind: AccessKind;
  readonly queue: Queue;
  readonly informer: Informer<AccessObject>;
}

/** Where the objects of a kind are listed and watched: one place a namespace, or one for all. */
export function placesOf(namespaces: readonly string[], plural: string) {
  const api = `/apis/${GROUP}/${VERSION}`;
  if (namespaces.length === 0) return [{ path: `${api}/${plural}`, namespace: null }];
  return namespaces.map((namespace) => ({ path: `${api}/namespaces/${namespace}/${plural}`, namespace }));
}

/** Follows the objects of `kind` until `signal`. */
export function startAccess(kind: AccessKind, options: Options, signal: AbortSignal): AccessRun {
  const made = kind === 'Project' ? projectKind : keyKind(options.settings.resync_ms);
  const reconciler = new AccessReconciler<AccessObject>(options, made as unknown as Kind<AccessObject>);
  const queue = startQueue((key) => reconciler.reconcile(key), {
    ...{ workers: options.workers, ...options.backoff },
  });
  const follower = {
    changed: (key: string) => queue.add(key),
    gone(key: string) {
      queue.forget(key);
      reconciler.forget(key);
    },
  };
  const informer = startInformer<AccessObject>(
    options.api,
    placesOf(options.namespaces, plurals[kind]),
    follower,
    {
      ...{ signal, log: options.log, relisted: () => options.metrics.relisted() },
    },
  );
  return { kind, queue, informer };
}
