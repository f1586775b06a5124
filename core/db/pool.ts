// The pool of the management side. The ledger's batchers have connections of their own (core/ledger/batch/batcher.ts),
// so that a slow list never stands in the way of a hold.
import pg from 'pg';
import type { Db, Shards, Statement } from '../kernel/index.ts';
import { isPrepared } from './address.ts';
import { isDatabaseFault } from './faults.ts';
import { isLeft, type Placement, placementOf } from './placement.ts';
import { readMovedTo, readPlace } from './placement-store.ts';
import { isOfStandby, leadsToSpread, meetLedger } from './primary-store.ts';
import { queryAlone, queryIn, type Scope, scopeOf, tenantScope } from './scope.ts';
import { ledgerNaming, ledgerSchemaOf, MAIN, type ShardAddress, shardPlaces } from './shard.ts';

const INT8 = 20;
/** PostgreSQL bigint as number; @throws RangeError past 2^53-1, which is above any balance. */
function parseInt8(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n)) throw new RangeError(`bigint beyond 2^53-1: ${text}`);
  return n;
}
pg.types.setTypeParser(INT8, parseInt8 as (value: string) => unknown);

export interface Pool extends Db {
  /** The ledgers of the installation whose own database this is; their pools are opened by the first look and end with it. */
  readonly shards: PoolShards;
  /** Runs `work` on one connection between begin and commit; a throw rolls back. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** The same connections, for what a caller of the organization does. */
  within(org_id: string): Fenced;
  /** Connections now, and how many wait for one. */
  readonly connections: { readonly busy: number; readonly idle: number; readonly waiting: number };
  /** Milliseconds of a `select 1`; rejects when the server cannot be reached. */
  ping(): Promise<number>;
  end(): Promise<void>;
}

/** Statements about one organization. */
export interface Reach {
  /** Sees and changes rows of the organization alone, whatever a statement says: the server keeps the others from it. */
  readonly db: Db;
  /** Reaches every organization, in the same transaction where there is one. */
  readonly across: Db;
}

interface Fenced extends Reach {
  /** Runs `work` on one connection between begin and commit; a throw rolls back. */
  transaction<T>(work: (reach: Reach) => Promise<T>): Promise<T>;
}

/** Each shard has connections of its own: one that is busy or away keeps nobody from the others. */
interface PoolShards extends Shards {
  at(name: string): Pool;
  /** With the addresses of their first places. */
  readonly addresses: readonly ShardAddress[];
  /** Where each is, for what keeps connections beside these. */
  readonly placements: readonly Placement[];
}

interface ShardOptions {
  /** Beside `main`, which is in the pool's own database. */
  readonly shards?: readonly ShardAddress[] | null;
  /** Which of all take new organizations; all when absent or null. */
  readonly open?: readonly string[] | null;
}

interface PoolOptions extends ShardOptions {
  readonly max?: number;
  /** As `max`, of the pool of each ledger: books, credits, windows and pages of entries; calls have connections of their own. */
  readonly shard_max?: number;
  readonly application?: string;
  readonly role?: string;
  readonly answer_ms?: number;
}

const SHARD_POOL = { max: 4, answer_ms: 10_000 };

type Run = (statement: pg.QueryConfig, alone: boolean) => Promise<pg.QueryResult>;

/** A `Db` that has its statements run by `run`, under names where `prepared`. */
function bind(run: Run, at: { readonly named: (text: string) => string; readonly prepared: boolean }): Db {
  return {
    async query<Row>(statement: Statement) {
      const config = {
        ...(at.prepared ? { name: statement.name } : {}),
        text: at.named(statement.text),
        values: statement.values as unknown[],
      };
      const { rows, rowCount } = await run(config, statement.alone === true);
      return { rows: rows as Row[], rowCount: rowCount ?? 0 };
    },
  };
}

/**
 * Runs `work` on a connection of `pool`. After a fault `recover` makes it usable again, or rejects with why it is not;
 * then, or when it died meanwhile, it does not go back to the pool.
 */
async function onConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  recover: (client: pg.PoolClient, fault: unknown) => Promise<unknown>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const died = (error: Error) => {
    broken = error;
  };
  client.on('error', died);
  try {
    return await work(client);
  } catch (fault) {
    await recover(client, fault).catch(died);
    throw fault;
  } finally {
    client.off('error', died);
    client.release(broken);
  }
}

/** Runs `work` on a connection of `pool` between `begin` and commit; a throw rolls back. */
function transact<T>(pool: pg.Pool, begin: string, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const inside = async (client: pg.PoolClient) => {
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    return result;
  };
  return onConnection(pool, inside, async (client, fault) => {
    await client.query('rollback');
    if (isOfStandby(fault)) throw fault;
  });
}

/** Whether a session ends with this answer (class 57P, operator intervention): its connection closes a moment later. */
function endsSession({ code = '' }: pg.DatabaseError): boolean {
  return code.startsWith('57P');
}

/** Single statements of `pool`, each in `scope`, but what a cluster is to run where the tables are (citus-store.ts). */
function actingIn(pool: pg.Pool, scope: Scope | null): Run {
  return (statement, alone) =>
    onConnection(
      pool,
      (client) => {
        if (alone && leadsToSpread(client)) return queryAlone(client, statement);
        return scope === null ? client.query(statement) : queryIn(client, scope, statement);
      },
      async (_client, fault) => {
        // What the server refused leaves the connection as it was; after anything else it may lead nowhere.
        if (!(fault instanceof pg.DatabaseError) || endsSession(fault) || isOfStandby(fault)) throw fault;
      },
    );
}

/**
 * A pool of at most `max` connections to `url`; a wait for one is bounded by 5 s and then fails, it never
 * queues without end. The ledger is where `url` says (shard.ts). With `role` every transaction acts as that role:
 * `svc_runtime` has no right to change history. With `answer_ms` a statement that is not answered for so long fails,
 * and its connection goes: it may lead nowhere. A standby counts as a server that is away. `url` may be a pooler in transaction mode (address.ts): no session keeps anything.
 */
export function createPool(url: string, options: PoolOptions = {}): Pool {
  const schema = ledgerSchemaOf(url);
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 8,
    connectionTimeoutMillis: 5_000,
    // A server that vanished is found out in minutes and not when somebody asks it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: options.application ?? 'svc',
    onConnect: (client) => meetLedger(client, schema),
    ...(options.answer_ms === undefined ? {} : { query_timeout: options.answer_ms }),
  });
  // An idle connection that the server closes is no fault of any caller; the next query opens a new one.
  pool.on('error', () => {});
  // Nobody listens yet where a server says in one breath that a new connection is ready and that it ends.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const { role } = options;
  const at = { named: ledgerNaming(schema), prepared: isPrepared(url) };
  const wide = scopeOf({ role: role ?? 'none' });
  const db = bind(actingIn(pool, role === undefined ? null : wide), at);
  const begin = role === undefined ? 'begin' : `begin; set local role ${pg.escapeIdentifier(role)}`;
  const shards = openShards(url, options);
  return {
    query: db.query,
    shards,
    transaction: (work) =>
      transact(pool, begin, (client) => work(bind((statement) => client.query(statement), at))),
    within: (org_id) => fencedBy(org_id, { pool, at, db, wide }),
    get connections() {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
      return { busy: totalCount - idle, idle, waiting };
    },
    async ping() {
      const start = performance.now();
      await pool.query('select 1');
      return performance.now() - start;
    },
    async end() {
      await shards.end();
      await pool.end();
    },
  };
}

/**
 * What callers of the organization do on the connections of `pool`. Each statement brings its scope, in its own round trip:
 * nothing that was set by another, or is forgotten with a savepoint, decides what it sees.
 */
function fencedBy(
  org_id: string,
  { pool, at, db, wide }: { pool: pg.Pool; at: Parameters<typeof bind>[1]; db: Db; wide: Scope },
): Fenced {
  const scope = tenantScope(org_id);
  return {
    db: bind(actingIn(pool, scope), at),
    across: db,
    transaction: (work) =>
      transact(pool, 'begin', (client) =>
        work({
          db: bind((statement) => queryIn(client, scope, statement), at),
          across: bind((statement) => queryIn(client, wide, statement), at),
        }),
      ),
  };
}

/** A former pool may still have statements that wait for a connection. */
const FAREWELL_MS = 30_000;

/**
 * A pool that follows the ledger. What a place refuses is done at the new one; after another fault it is
 * only looked for, because what was asked may have been done.
 */
function followingPool(placement: Placement, open: (url: string) => Pool): Pool {
  const opened = new Map<string, Pool>();
  const current = (): { url: string; pool: Pool } => {
    const { url } = placement;
    let pool = opened.get(url);
    if (pool === undefined) {
      for (const [former, old] of opened) {
        opened.delete(former);
        setTimeout(() => void old.end(), FAREWELL_MS).unref();
      }
      pool = open(url);
      opened.set(url, pool);
    }
    return { url, pool };
  };
  const there = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
    if (placement.places.length > 1) await placement.ready();
    for (let left = placement.places.length; ; left--) {
      const { url, pool } = current();
      try {
        return await work(pool);
      } catch (fault) {
        const refused = isLeft(fault);
        if (!refused && !isDatabaseFault(fault)) throw fault;
        const followed = placement.follow(url, refused);
        // Of a place that does not answer nobody knows yet whether it was left: that must keep nothing waiting.
        if (!refused) followed.catch(() => {});
        if (!refused || !(await followed) || left === 0) throw fault;
      }
    }
  };
  return {
    query: (statement) => there((pool) => pool.query(statement)),
    transaction: (work) => there((pool) => pool.transaction(work)),
    within: (org_id) => current().pool.within(org_id),
    ping: () => there((pool) => pool.ping()),
    get shards() {
      return current().pool.shards;
    },
    get connections() {
      return current().pool.connections;
    },
    async end() {
      await Promise.all([...opened.values()].map((pool) => pool.end()));
    },
  };
}

/** A pool to wherever the ledger of `placement` is. */
export function openPlaced(placement: Placement, options: PoolOptions): Pool {
  if (placement.shard === MAIN) return createPool(placement.url, options);
  return followingPool(placement, (url) => createPool(url, options));
}

/**
 * Asks where a ledger is on a connection for this one question: those of a pool may all be taken by transactions that wait for
 * the answer.
 */
async function askOnce<T>(
  url: string,
  role: string | undefined,
  question: (db: Db) => Promise<T>,
): Promise<T> {
  const pool = createPool(url, {
    ...{ max: 1, application: 'svc-place', answer_ms: SHARD_POOL.answer_ms },
    ...(role === undefined ? {} : { role }),
  });
  try {
    return await question(pool);
  } finally {
    await pool.end();
  }
}

/** @throws Error on names that are doubled or not listed. */
function openShards(url: string, options: PoolOptions): PoolShards & { end(): Promise<void> } {
  const all = shardPlaces(url, options.shards ?? []);
  const names = all.map(({ name }) => name);
  const open = options.open ?? names;
  const unknown = open.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`no shard of the ledger is called ${unknown}`);
  const { application = 'svc', role, shard_max = SHARD_POOL.max } = options;
  const placements = all.map((shard) =>
    placementOf(shard, {
      recorded: (name) => askOnce(url, role, (db) => readPlace(db, name)),
      movedTo: (place) => askOnce(place, role, readMovedTo),
    }),
  );
  const pools = new Map<string, Pool>();
  return {
    ...{ names, open, placements, addresses: all.map(({ places }) => places[0]) },
    at(name) {
      let pool = pools.get(name);
      if (pool !== undefined) return pool;
      const placement = placements.find(({ shard }) => shard === name);
      if (placement === undefined) throw new Error(`no shard of the ledger is called ${name}`);
      const label = name === MAIN ? application : `${application} ${name}`;
      pool = openPlaced(placement, {
        ...{ ...SHARD_POOL, max: shard_max },
        application: label,
        ...(role === undefined ? {} : { role }),
      });
      pools.set(name, pool);
      return pool;
    },
    async end() {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}
