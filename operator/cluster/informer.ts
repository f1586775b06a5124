// Follows the objects of the API server: lists them, watches with bookmarks, and watches again from where a watch ended;
// lists anew when that place is too old, and backs off while there is no answer. The objects are kept to recognise
// changes and for metrics; a reconcile reads its object again.

import type { Log } from '../log.ts';
import { elapsedMs, pause, randomUnit } from '../system.ts';
import { keyOf, type Resource } from '../types.ts';
import { ApiFault, type KubernetesApi } from './kubernetes.ts';
import { backoffMs } from './queue.ts';

const PAGE = 500;
const WATCH_SECONDS = 240;
const BACKOFF = { backoff_first_ms: 200, backoff_max_ms: 30_000, random: randomUnit };
/** A watch that lasted this long was healthy: the next fault counts as the first one again. */
const GOOD_WATCH_MS = 10_000;
const SHORT_WATCH_MS = 1_000;
/** After so many faults in a row the resource version itself is suspect: an etcd restored from a backup may not know it. */
const FAULTS_MAX = 3;

interface List<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

export interface Informer<T extends Resource> {
  readonly objects: ReadonlyMap<string, T>;
  /** Whether each namespace was listed once. */
  isSynced(): boolean;
  /** Resolves when the following has ended, after the signal. */
  readonly ended: Promise<void>;
}

export interface Follower<T extends Resource> {
  /** An object is new, or a part of it changed that the operator does not write itself. */
  changed(key: string, object: T): void;
  gone(key: string, object: T): void;
}

/** The parts of an object whose change causes a reconcile. Status and finalizers do not: the operator writes them. */
function signature({ metadata }: Resource): string {
  const { uid, generation, deletionTimestamp, annotations } = metadata;
  return JSON.stringify([uid, generation, deletionTimestamp, annotations]);
}

class Store<T extends Resource> {
  readonly objects = new Map<string, T>();
  readonly #follower: Follower<T>;

  constructor(follower: Follower<T>) {
    this.#follower = follower;
  }

  put(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    if (before === undefined || signature(before) !== signature(object)) this.#follower.changed(key, object);
  }

  remove(object: T): void {
    const key = keyOf(object.metadata);
    if (!this.objects.delete(key)) return;
    this.#follower.gone(key, object);
  }

  /** Takes `items` as the complete list of `namespace` (null: of all namespaces). */
  replace(namespace: string | null, items: readonly T[]): void {
    const listed = new Set(items.map(({ metadata }) => keyOf(metadata)));
    for (const [key, object] of this.objects) {
      if (namespace !== null && object.metadata.namespace !== namespace) continue;
      if (!listed.has(key)) this.remove(object);
    }
    for (const item of items) this.put(item);
  }
}

/** Follows one namespace, or all. */
class Following<T extends Resource> {
  readonly #api: KubernetesApi;
  readonly #path: string;
  readonly #namespace: string | null;
  readonly #store: Store<T>;
  version: string | null = null;
  is_listed = false;

  constructor(api: KubernetesApi, store: Store<T>, at: { path: string; namespace: string | null }) {
    this.#api = api;
    this.#store = store;
    this.#path = at.path;
    this.#namespace = at.namespace;
  }

  async #list(): Promise<string> {
    const items: T[] = [];
    let next = '';
    for (;;) {
      const page = await this.#api.ask<List<T>>(
        'GET',
        `${this.#path}?limit=${PAGE}&continue=${encodeURIComponent(next)}`,
      );
      items.push(...page.items);
      next = page.metadata.continue ?? '';
      if (next !== '') continue;
      this.#store.replace(this.#namespace, items);
      this.is_listed = true;
      return page.metadata.resourceVersion;
    }
  }

  /** Lists if need be and watches until the watch ends. @throws ApiFault; 410 asks for a new list. */
  async follow(signal: AbortSignal): Promise<void> {
    this.version ??= await this.#list();
    const query = new URLSearchParams({
      ...{ watch: '1', allowWatchBookmarks: 'true', resourceVersion: this.version },
      timeoutSeconds: String(Math.round(WATCH_SECONDS * (1 + randomUnit() / 5))),
    });
    // Later than the server ends a watch by itself: only a connection that died silently is cut here.
    const limit_ms = (WATCH_SECONDS * 1.2 + 15) * 1_000;
    for await (const { type, object } of this.#api.watch(`${this.#path}?${query}`, limit_ms, signal)) {
      if (type === 'ERROR') {
        const { code = 0, message = 'the watch failed' } = object as { code?: number; message?: string };
        throw new ApiFault(code, message);
      }
      const seen = object as T;
      this.version = seen.metadata.resourceVersion;
      if (type === 'DELETED') this.#store.remove(seen);
      else if (type !== 'BOOKMARK') this.#store.put(seen);
    }
  }
}

/** Follows the objects at `paths` (one a namespace, or one for all) until `signal`. */
export function startInformer<T extends Resource>(
  api: KubernetesApi,
  places: readonly { readonly path: string; readonly namespace: string | null }[],
  follower: Follower<T>,
  options: { readonly signal: AbortSignal; readonly log: Log; relisted(): void },
): Informer<T> {
  const { signal, log } = options;
  const store = new Store<T>(follower);
  const run = async (following: Following<T>) => {
    let failures = 0;
    while (!signal.aborted) {
      const began = elapsedMs();
      try {
        await following.follow(signal);
        failures = 0;
        // A server that ends watches at once must not be asked again and again without a pause.
        if (elapsedMs() - began < SHORT_WATCH_MS) await pause(SHORT_WATCH_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (elapsedMs() - began > GOOD_WATCH_MS) failures = 0;
        failures++;
        const { status = 0, message } = error as ApiFault;
        // 410: too old to continue from. After any other fault the watch continues from where it was.
        if (status === 410 || failures % FAULTS_MAX === 0) {
          following.version = null;
          options.relisted();
        }
        log.warn({ status, message, failures }, 'watch interrupted');
        await pause(backoffMs(failures, BACKOFF), signal);
      }
    }
  };
  const all = places.map((place) => new Following<T>(api, store, place));
  return {
    objects: store.objects,
    isSynced: () => all.every(({ is_listed }) => is_listed),
    ended: Promise.all(all.map(run)).then(() => {}),
  };
}
