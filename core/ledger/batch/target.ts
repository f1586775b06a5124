// Where the statements of a batcher run, and under which settings: those of the transaction, so that a connection may
// lead through a pooler.
import type pg from 'pg';
import { leadsToSpread, queryAlone, queryIn, scopeOf } from '../../db/index.ts';

/** A connection to a ledger; each statement is a transaction. */
export interface Target {
  query<Row extends unknown[]>(statement: pg.QueryArrayConfig): Promise<{ rows: Row[] }>;
}

/** The role of everything that a program does with a ledger. */
export const ROLE = 'svc_runtime';
/** With `auto` the planner plans array parameters anew on every call; scans would make a plan of a quiet night last. */
const PLANS = { jit: 'off', plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };
const SCOPES = {
  on: scopeOf({ role: ROLE, synchronous_commit: 'on', ...PLANS }),
  off: scopeOf({ role: ROLE, synchronous_commit: 'off', ...PLANS }),
};

/** `off`: a crash of PostgreSQL may lose what was committed last. */
export type Sync = keyof typeof SCOPES;

/** How the statements of this ledger are written. */
export interface Dialect {
  /** Puts the name of its schema into a statement. */
  readonly named: (text: string) => string;
  /** Prepared on the connection, under their names. */
  readonly prepared: boolean;
}

/** `client` as a target. */
export function targetOf(client: pg.Client, { named, prepared }: Dialect, sync: Sync): Target {
  return {
    query: ({ name, text, ...rest }) => {
      const statement = { text: named(text), ...rest };
      // Functions of such a ledger have the settings (core/db/citus-store.ts); `sync` is that of the server that commits.
      if (leadsToSpread(client)) return queryAlone(client, statement);
      return queryIn(client, SCOPES[sync], prepared ? { name: name as string, ...statement } : statement);
    },
  };
}
