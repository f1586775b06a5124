// The context an operation runs in: the pool outside a transaction, one connection inside.
import { callersCatalog } from '../catalog/index.ts';
import type { Pool, Reach } from '../db/index.ts';
import {
  type Caller,
  type Context,
  type Db,
  type Id,
  type Kind,
  type Log,
  newId,
  now,
  type Operation,
  type RequestId,
  type Services,
  type Shards,
} from '../kernel/index.ts';
import { memberKeys } from '../keys/index.ts';
import { foundingTerms } from '../legal/index.ts';
import { foundingParents } from '../resellers/index.ts';

interface ContextParts {
  readonly request_id: RequestId;
  readonly caller: Caller;
  readonly pool: Pool;
  readonly log: Log;
  readonly services: Services;
  readonly client_ip?: string | null;
  readonly header?: (name: string, value: string) => void;
  readonly requestHeader?: (name: string) => string | null;
  readonly once?: string;
}

type Effect = Parameters<Context['afterCommit']>[0];

class OperationContext implements Context {
  readonly request_id: RequestId;
  readonly caller: Caller;
  readonly log: Log;
  readonly services: Services;
  readonly client_ip: string | null;
  readonly once?: string;
  readonly db: Db;
  readonly shards: Shards;
  readonly #parts: ContextParts;
  readonly #reach: Reach;
  /** Effects waiting for the commit; null outside a transaction. */
  readonly #effects: Effect[] | null;

  constructor(parts: ContextParts, reach: Reach, effects: Effect[] | null) {
    this.request_id = parts.request_id;
    this.caller = parts.caller;
    this.log = parts.log;
    this.services = {
      ...{ member_keys: memberKeys, founding_terms: foundingTerms, founding_parents: foundingParents },
      ...parts.services,
    };
    this.client_ip = parts.client_ip ?? null;
    this.db = reach.db;
    this.shards = parts.pool.shards;
    if (parts.once !== undefined) this.once = parts.once;
    this.#parts = parts;
    this.#reach = reach;
    this.#effects = effects;
  }

  /** The same context with other services, or for a request that is known again. */
  with(change: { readonly services?: Partial<Services>; readonly once?: string }): OperationContext {
    const { services, ...rest } = change;
    const parts = { ...this.#parts, ...rest, services: { ...this.#parts.services, ...services } };
    return new OperationContext(parts, this.#reach, this.#effects);
  }

  get acrossOrgs(): Context {
    const { across } = this.#reach;
    return this.db === across ? this : new OperationContext(this.#parts, everyOrg(across), this.#effects);
  }

  now(): Date {
    return now();
  }

  newId<K extends Kind>(kind: K): Id<K> {
    return newId(kind);
  }

  async transaction<T>(work: (context: Context) => Promise<T>): Promise<T> {
    // Inside one, work joins it: a part of an operation never commits without the whole.
    if (this.#effects !== null) return work(this);
    const effects: Effect[] = [];
    const inside = (reach: Reach) => work(new OperationContext(this.#parts, reach, effects));
    const { pool } = this.#parts;
    const org_id = this.db === this.#reach.across ? null : orgOf(this.caller);
    const result = await (org_id === null
      ? pool.transaction((db) => inside(everyOrg(db)))
      : pool.within(org_id).transaction(inside));
    for (const effect of effects) await effect(this);
    return result;
  }

  afterCommit(effect: Effect): void | Promise<void> {
    if (this.#effects === null) return effect(this);
    this.#effects.push(effect);
  }

  header(name: string, value: string): void {
    this.#parts.header?.(name, value);
  }

  requestHeader(name: string): string | null {
    return this.#parts.requestHeader?.(name) ?? null;
  }
}

/** The organization that `caller` acts for; null where there is none. */
function orgOf(caller: Caller): string | null {
  return caller.kind === 'public' || caller.kind === 'staff' ? null : caller.org_id;
}

function everyOrg(db: Db): Reach {
  return { db, across: db };
}

/**
 * A context outside any transaction; `transaction` opens one. What a caller of an organization does there sees the rows of
 * that organization alone.
 */
export function createContext(parts: ContextParts): Context {
  const org_id = orgOf(parts.caller);
  const reach = org_id === null ? everyOrg(parts.pool) : parts.pool.within(org_id);
  return new OperationContext(parts, reach, null);
}

/** `context` with the catalog at the prices that the caller's organization pays. */
async function atOwnPrices(context: Context): Promise<Context> {
  const { caller } = context;
  const is_resold = (caller.kind === 'key' || caller.kind === 'session') && caller.tier_bps !== undefined;
  if (!is_resold || !(context instanceof OperationContext)) return context;
  const catalog = await callersCatalog(context);
  return context.with({ services: { catalog: () => catalog } });
}

/** `context` of a request that has the name `once` whenever it is sent again. */
export function knownAgain(context: Context, once: string): Context {
  return context instanceof OperationContext ? context.with({ once }) : context;
}

/** Runs `operation` where its declaration says: behind the fence of the caller's organization, or across. */
export async function runOperation(context: Context, operation: Operation, input: unknown): Promise<unknown> {
  const own = await atOwnPrices(context);
  return operation.run(operation.across_orgs === undefined ? own : own.acrossOrgs, input as never);
}
