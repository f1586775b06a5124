// The active policies of a process: dropped when they change, so that the next call is routed by what is active.

import { type Db, type Id, type Log, monotonicMs, newUlid } from '../kernel/index.ts';
import { type Changes, OrgCache } from '../runtime/index.ts';
import { type ActivePolicy, activePolicy } from './decide.ts';
import { readStoredPolicy } from './language/validate.ts';
import { forgetGateway, noteGateway, pruneGateways, readActiveTexts } from './snapshot-store.ts';

const TRUST_MS = 2_000;
/** A process is counted as alive for ten seconds after its last note, and no longer than its session. */
const NOTE_MS = 3_000;
const PRUNE_MS = 600_000;

/** The active policies of one organization, immutable. */
export interface OrgPolicies {
  /** What rules a call of `project_id`: its own policy, else the organization's, else null for the default. */
  of(project_id: Id<'project'>): ActivePolicy | null;
}

const none: OrgPolicies = { of: () => null };

export interface PolicyCache {
  /**
   * The snapshot of an organization; a promise where it must be read first.
   * @throws ServiceError service_unavailable (from the promise) when it cannot be read: no call passes unruled.
   */
  policiesOf(org_id: Id<'org'>): OrgPolicies | Promise<OrgPolicies>;
  /** Drops an organization's snapshot in this process at once. */
  forget(org_id: Id<'org'>): void;
  close(): Promise<void>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Absent in processes that route no calls. */
    readonly policies?: Pick<PolicyCache, 'forget'>;
  }
}

interface PolicyCacheOptions {
  readonly changes: Changes;
  readonly log: Log;
  /** Name of this process among the gateways that apply policies. */
  readonly process_name: string;
  /** Most organizations held in memory. */
  readonly max_orgs?: number;
}

/** What rules the organization (null: the default) and those of its projects that have a policy of their own. */
export async function readRulingPolicies(
  db: Db,
  org_id: Id<'org'>,
): Promise<{ readonly org: ActivePolicy | null; readonly projects: ReadonlyMap<string, ActivePolicy> }> {
  const texts = await readActiveTexts(db, org_id);
  let org: ActivePolicy | null = null;
  const projects = new Map<string, ActivePolicy>();
  for (const { project_id, name, version, yaml, halted } of texts) {
    const policy = activePolicy(name, version, readStoredPolicy(yaml), new Set(halted));
    if (project_id === null) org = policy;
    else projects.set(project_id, policy);
  }
  return { org, projects };
}

async function readPolicies(db: Db, org_id: Id<'org'>): Promise<OrgPolicies> {
  const { org, projects } = await readRulingPolicies(db, org_id);
  if (org === null && projects.size === 0) return none;
  return { of: (project_id) => projects.get(project_id) ?? org };
}

/** The policies of this process. A database that is away shows in `policiesOf` as service_unavailable. */
export function openPolicyCache({ changes, log, process_name, max_orgs }: PolicyCacheOptions): PolicyCache {
  const { db } = changes;
  const gateway_id = newUlid();
  let note_due_ms = Number.NEGATIVE_INFINITY;
  let prune_due_ms = monotonicMs() + PRUNE_MS;
  const cache = new OrgCache<OrgPolicies>({
    ...{ changes, log, what: 'routing policies', topic: 'policy', trust_ms: TRUST_MS },
    max_orgs: max_orgs ?? 20_000,
    unreadable:
      'Routing policies cannot be read at the moment, and no call is made without them. Try again shortly.',
    read: (org_id) => readPolicies(db, org_id),
    // What was heard is noted with a snapshot that shows it, so that `gateways` counts this process at once.
    async polled({ began_ms, snapshot, noted }) {
      if (noted || began_ms >= note_due_ms) {
        const { session_id } = changes;
        await noteGateway(db, { gateway_id, process_name, session_id, snapshot });
        note_due_ms = began_ms + (session_id === null ? 0 : NOTE_MS);
      }
      if (began_ms < prune_due_ms) return;
      prune_due_ms = began_ms + PRUNE_MS;
      await pruneGateways(db);
    },
  });
  return {
    policiesOf: (org_id) => cache.of(org_id),
    forget: (org_id) => cache.forget(org_id),
    async close() {
      cache.close();
      await forgetGateway(db, gateway_id).catch(() => {});
    },
  };
}
