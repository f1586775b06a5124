// How a process hears that rows it remembers have changed: by NOTIFY, and by a poll where a notification was lost. One
// connection that listens and one that polls serve everything that is remembered.
import { createPool, type Listener, listen, type Pool } from '../db/index.ts';
import { type Log, monotonicMs, newUlid } from '../kernel/index.ts';
import { type Change, pruneChanges, readChanges, type Topic } from './changes-store.ts';

/** Half of what the second allows would do; a quarter leaves room for a busy machine. */
const POLL_MS = 250;
/** Announcements live for an hour; after half of it unheard, everything remembered is dropped. */
const SILENCE_MS = 1_800_000;
const PRUNE_MS = 600_000;
/** Callers wait for these look-ups, and all of them for the poll: a network may forget a connection in silence. */
const ANSWER_MS = 5_000;
const FIRST_SNAPSHOT = '1:1:';
const topics: readonly Topic[] = ['grant', 'policy', 'byok'];

/** Something that keeps a copy in memory. It may get the same change twice. */
export interface Follower {
  readonly topic: Topic;
  changed(change: Change): void;
  /** Changes may have been missed: all that is remembered must go. */
  missed(): void;
  /**
   * After an answered poll that began at `began_ms` and saw `snapshot`; `noted` where this topic has changed since the
   * last one. A throw is logged and is no other follower's concern.
   */
  polled?(poll: { began_ms: number; snapshot: string; noted: boolean }): Promise<void>;
}

export interface Changes {
  /** Connections for reading what is to be remembered: slow lists never keep these look-ups waiting. */
  readonly db: Pool;
  /** Of the session by which this process listens now; null while it does not. */
  readonly session_id: string | null;
  /** Whether a poll that began less than `trust_ms` ago was answered: else memory is not to be believed. */
  heardWithin(trust_ms: number): boolean;
  /** Tells `follower` from now on. It must remember nothing yet. Returns how to end that. */
  follow(follower: Follower): () => void;
  /** Stops listening and polling; a poll under way is waited for. */
  close(): Promise<void>;
}

interface ChangesOptions {
  /** Absent: connections of its own. */
  readonly db?: Pool;
  readonly url: string;
  /** Where NOTIFY is heard; `url` when absent. */
  readonly direct_url?: string;
  /** Connections at most, four by default. */
  readonly max?: number;
  readonly log: Log;
}

class Feed implements Changes {
  readonly db: Pool;
  readonly #owns_db: boolean;
  readonly #session_id = newUlid();
  readonly #log: Log;
  readonly #followers = new Set<Follower>();
  /** Topics heard of since the last answered poll. */
  readonly #noted = new Set<Topic>();
  #listener: Listener | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  /** A poll was asked for while one was under way, which may have looked too early. */
  #again = false;
  #closed = false;
  #snapshot = FIRST_SNAPSHOT;
  #heard_ms = Number.NEGATIVE_INFINITY;
  #prune_due_ms = monotonicMs() + PRUNE_MS;

  constructor({ db, url, max = 4, log }: ChangesOptions) {
    this.#owns_db = db === undefined;
    this.db =
      db ?? createPool(url, { max, application: 'svc-memory', role: 'svc_runtime', answer_ms: ANSWER_MS });
    this.#log = log;
  }

  get session_id(): string | null {
    return this.#listener?.connected === true ? this.#session_id : null;
  }

  heardWithin(trust_ms: number): boolean {
    return monotonicMs() - this.#heard_ms < trust_ms;
  }

  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  async start(url: string): Promise<void> {
    await this.#poll();
    this.#listener = listen({
      url,
      log: this.#log,
      channels: topics.map((topic) => `svc_${topic}`),
      session_id: this.#session_id,
      on_message: (channel, payload) => this.#hear(channel.slice('svc_'.length) as Topic, payload),
      on_connect: () => this.#pollAfter(),
    });
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#listener?.close();
    await this.#polling;
    if (this.#owns_db) await this.db.end();
  }

  #hear(topic: Topic, payload: string): void {
    const [org_id, key_id] = payload.split(' ') as [
      Change['org_id'],
      NonNullable<Change['key_id']> | undefined,
    ];
    this.#tell({ topic, org_id, key_id: key_id || null });
    this.#pollAfter();
  }

  #tell(change: Change): void {
    this.#noted.add(change.topic);
    for (const follower of this.#followers) if (follower.topic === change.topic) follower.changed(change);
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await this.#poll();
      if (!this.#closed) this.#schedule();
    }, POLL_MS);
  }

  /** A poll that begins after now. */
  #pollAfter(): void {
    if (this.#closed) return;
    if (this.#polling === null) void this.#poll();
    else this.#again = true;
  }

  /** One poll at a time; a second caller waits for the running one. */
  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null;
      if (!this.#again) return;
      this.#again = false;
      this.#pollAfter();
    });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    const began_ms = monotonicMs();
    try {
      const { snapshot, changes } = await readChanges(this.db, this.#snapshot);
      if (began_ms - this.#heard_ms > SILENCE_MS) for (const follower of this.#followers) follower.missed();
      else for (const change of changes) this.#tell(change);
      this.#snapshot = snapshot;
      this.#heard_ms = began_ms;
      const noted = new Set(this.#noted);
      this.#noted.clear();
      for (const follower of this.#followers) {
        await follower
          .polled?.({ began_ms, snapshot, noted: noted.has(follower.topic) })
          .catch((error: unknown) => this.#unwritten(follower, error));
      }
      if (began_ms >= this.#prune_due_ms) {
        this.#prune_due_ms = began_ms + PRUNE_MS;
        await pruneChanges(this.db);
      }
    } catch (error) {
      // Not swallowed: without an answered poll memory loses its trust, and every call meets the fault itself.
      this.#log.warn({ error }, 'changes of keys and policies cannot be read');
    }
  }

  #unwritten({ topic }: Follower, error: unknown): void {
    this.#noted.add(topic);
    this.#log.warn({ topic, error }, 'what follows from a change cannot be written');
  }
}

/**
 * Polls once and follows changes from then on. Never throws: a database that is away shows in `heardWithin`.
 */
export async function openChanges(options: ChangesOptions): Promise<Changes> {
  const feed = new Feed(options);
  await feed.start(options.direct_url ?? options.url);
  return feed;
}
