// The active policies of a process: read on first use of an organisation, dropped when they change, so that the next
// call is routed by what is active. Heard of by NOTIFY, by a poll where a notification was lost, and at once by
// whoever changed them in this process (`forget`).
import { createPool, isDatabaseFault, type Listener, listen, type Pool } from '../db/index.ts';
import { type Id, type Log, monotonicMs, newUlid, ServiceError } from '../kernel/index.ts';
import { type ActivePolicy, activePolicy } from './decide.ts';
import {
  forgetGateway,
  noteGateway,
  prunePolicyChanges,
  readActiveTexts,
  readPolicyChanges,
} from './snapshot-store.ts';
import { readStoredPolicy } from './validate.ts';

const POLL_MS = 400;
/** Without an answered poll for this long memory is not believed: each call asks PostgreSQL or is refused. */
const TRUST_MS = 2_000;
/** Announcements live for an hour; after half of it unheard, everything is dropped. */
const SILENCE_MS = 1_800_000;
/** A process is counted as alive for ten seconds after its last note. */
const NOTE_MS = 3_000;
const PRUNE_MS = 600_000;
const FIRST_SNAPSHOT = '1:1:';

/** The active policies of one organisation, immutable. */
export interface OrgPolicies {
  /** What rules a call of `project_id`: its own policy, else the organisation's, else null for the default. */
  of(project_id: Id<'project'>): ActivePolicy | null;
}

const none: OrgPolicies = { of: () => null };

export interface PolicyBook {
  /**
   * The snapshot of an organisation; a promise where it must be read first.
   * @throws ServiceError service_unavailable (from the promise) when it cannot be read: no call passes unruled.
   */
  policiesOf(org_id: Id<'org'>): OrgPolicies | Promise<OrgPolicies>;
  /** Drops an organisation's snapshot in this process at once. */
  forget(org_id: Id<'org'>): void;
  close(): Promise<void>;
}

declare module '../kernel/operation.ts' {
  interface Services {
    /** Absent in processes that route no calls. */
    readonly policies?: Pick<PolicyBook, 'forget'>;
  }
}

export interface PolicyBookOptions {
  /** Absent: two connections of its own, so that slow lists never keep calls waiting. */
  readonly db?: Pool;
  readonly url: string;
  readonly log: Log;
  /** Name of this process among the gateways that apply policies. */
  readonly process_name: string;
  /** Most organisations held in memory. */
  readonly max_orgs?: number;
}

class Book implements PolicyBook {
  readonly #db: Pool;
  readonly #owns_db: boolean;
  readonly #log: Log;
  readonly #max: number;
  readonly #process_name: string;
  readonly #gateway_id = newUlid();
  readonly #orgs = new Map<Id<'org'>, OrgPolicies>();
  readonly #asking = new Map<Id<'org'>, Promise<OrgPolicies>>();
  #listener: Listener | null = null;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  #again = false;
  /** Rises with every change heard of: a read that began before one is answered but not remembered. */
  #generation = 0;
  #snapshot = FIRST_SNAPSHOT;
  #heard_ms = Number.NEGATIVE_INFINITY;
  #note_due_ms = Number.NEGATIVE_INFINITY;
  #prune_due_ms: number;

  constructor(options: PolicyBookOptions) {
    this.#owns_db = options.db === undefined;
    this.#db = options.db ?? createPool(options.url, { max: 2, application: 'svc-policies' });
    this.#log = options.log;
    this.#max = options.max_orgs ?? 20_000;
    this.#process_name = options.process_name;
    this.#prune_due_ms = monotonicMs() + PRUNE_MS;
  }

  async start(url: string): Promise<void> {
    await this.#poll();
    this.#listener = listen({
      url,
      channel: 'svc_policy',
      log: this.#log,
      on_message: (org_id) => {
        this.forget(org_id as Id<'org'>);
        // What was heard is noted with a snapshot that shows it, so that `gateways` counts this process at once.
        void this.#pollAfter();
      },
      on_connect: () => void this.#pollAfter(),
    });
    this.#schedule();
  }

  policiesOf(org_id: Id<'org'>): OrgPolicies | Promise<OrgPolicies> {
    const known = this.#orgs.get(org_id);
    if (known !== undefined && monotonicMs() - this.#heard_ms < TRUST_MS) return known;
    const asking = this.#asking.get(org_id);
    if (asking !== undefined) return asking;
    const asked = this.#read(org_id).finally(() => {
      if (this.#asking.get(org_id) === asked) this.#asking.delete(org_id);
    });
    this.#asking.set(org_id, asked);
    return asked;
  }

  forget(org_id: Id<'org'>): void {
    this.#generation++;
    this.#orgs.delete(org_id);
    // A read under way may have begun before the change: the next call reads anew.
    this.#asking.delete(org_id);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#listener?.close();
    await this.#polling;
    await forgetGateway(this.#db, this.#gateway_id).catch(() => {});
    if (this.#owns_db) await this.#db.end();
  }

  async #read(org_id: Id<'org'>): Promise<OrgPolicies> {
    const generation = this.#generation;
    try {
      const texts = await readActiveTexts(this.#db, org_id);
      let org: ActivePolicy | null = null;
      const projects = new Map<Id<'project'>, ActivePolicy>();
      for (const { project_id, name, version, yaml } of texts) {
        const policy = activePolicy(name, version, readStoredPolicy(yaml));
        if (project_id === null) org = policy;
        else projects.set(project_id, policy);
      }
      const found: OrgPolicies =
        texts.length === 0 ? none : { of: (project_id) => projects.get(project_id) ?? org };
      if (generation === this.#generation) this.#keep(org_id, found);
      return found;
    } catch (error) {
      if (!isDatabaseFault(error)) this.#log.error({ org_id, error }, 'policies cannot be read');
      throw new ServiceError(
        'service_unavailable',
        'Routing policies cannot be read; no call passes without them. Try again shortly.',
        { details: { component: 'postgres' }, retry_after_ms: 1_000 },
      );
    }
  }

  #keep(org_id: Id<'org'>, found: OrgPolicies): void {
    this.#orgs.set(org_id, found);
    while (this.#orgs.size > this.#max) this.#orgs.delete(this.#orgs.keys().next().value as Id<'org'>);
  }

  #schedule(): void {
    this.#timer = setTimeout(async () => {
      await this.#poll();
      if (this.#timer !== null) this.#schedule();
    }, POLL_MS);
  }

  /** A poll that begins after now: one under way may have looked too early. */
  async #pollAfter(): Promise<void> {
    this.#note_due_ms = Number.NEGATIVE_INFINITY;
    if (this.#polling !== null) {
      this.#again = true;
      return;
    }
    await this.#poll();
  }

  /** One poll at a time; a second caller waits for the running one. */
  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = null;
      if (!this.#again) return;
      this.#again = false;
      this.#note_due_ms = Number.NEGATIVE_INFINITY;
      if (this.#timer !== null) void this.#poll();
    });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    const began = monotonicMs();
    try {
      const { snapshot, orgs } = await readPolicyChanges(this.#db, this.#snapshot);
      if (began - this.#heard_ms > SILENCE_MS) this.#clear();
      else for (const org_id of orgs) this.forget(org_id);
      this.#snapshot = snapshot;
      this.#heard_ms = began;
      if (orgs.length > 0 || began >= this.#note_due_ms) {
        const gateway = { gateway_id: this.#gateway_id, process_name: this.#process_name, snapshot };
        await noteGateway(this.#db, gateway);
        this.#note_due_ms = began + NOTE_MS;
      }
      if (began >= this.#prune_due_ms) {
        this.#prune_due_ms = began + PRUNE_MS;
        await prunePolicyChanges(this.#db);
      }
    } catch (error) {
      // Not swallowed: without an answered poll memory loses its trust, and every call meets the fault itself.
      this.#log.warn({ error }, 'policy changes cannot be read');
    }
  }

  #clear(): void {
    this.#generation++;
    this.#orgs.clear();
    this.#asking.clear();
  }
}

/**
 * Opens the policies of this process. Never throws: a database that is away shows in `policiesOf` as
 * service_unavailable until it is back.
 */
export async function openPolicyBook(options: PolicyBookOptions): Promise<PolicyBook> {
  const book = new Book(options);
  await book.start(options.url);
  return book;
}
