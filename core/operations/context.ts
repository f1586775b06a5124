// The context an operation runs in: the pool outside a transaction, one connection inside.
import type { Pool } from '../db/index.ts';
import {
  type Caller,
  type Context,
  type Db,
  type Id,
  type Kind,
  type Log,
  newId,
  now,
  type RequestId,
  type Services,
  type Shards,
} from '../kernel/index.ts';
import { memberKeys } from '../keys/index.ts';
import { foundingTerms } from '../legal/index.ts';

interface ContextParts {
  readonly request_id: RequestId;
  readonly caller: Caller;
  readonly pool: Pool;
  readonly log: Log;
  readonly services: Services;
  readonly client_ip?: string | null;
  readonly header?: (name: string, value: string) => void;
  readonly requestHeader?: (name: string) => string | null;
}

type Effect = Parameters<Context['afterCommit']>[0];

class OperationContext implements Context {
  readonly request_id: RequestId;
  readonly caller: Caller;
  readonly log: Log;
  readonly services: Services;
  readonly client_ip: string | null;
  readonly db: Db;
  readonly shards: Shards;
  readonly #parts: ContextParts;
  /** Effects waiting for the commit; null outside a transaction. */
  readonly #effects: Effect[] | null;

  constructor(parts: ContextParts, db: Db, effects: Effect[] | null) {
    this.request_id = parts.request_id;
    this.caller = parts.caller;
    this.log = parts.log;
    this.services = { member_keys: memberKeys, founding_terms: foundingTerms, ...parts.services };
    this.client_ip = parts.client_ip ?? null;
    this.db = db;
    this.shards = parts.pool.shards;
    this.#parts = parts;
    this.#effects = effects;
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
    const result = await this.#parts.pool.transaction((db) =>
      work(new OperationContext(this.#parts, db, effects)),
    );
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

/** A context outside any transaction; `transaction` opens one. */
export function createContext(parts: ContextParts): Context {
  return new OperationContext(parts, parts.pool, null);
}
