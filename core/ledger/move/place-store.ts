// What a move does at the two places of a ledger, as the owner of its schema.
import pg from 'pg';
import { inLedgerSchema, ledgerSchemaOf } from '../../db/index.ts';

/** A connection to a place. */
export interface Place {
  readonly url: string;
  readonly schema: string;
  /** With `answer_ms` an error when there is no answer for so long; the server may still be at work. */
  query<Row extends pg.QueryResultRow>(
    text: string,
    values?: unknown[],
    options?: { readonly answer_ms: number },
  ): Promise<Row[]>;
  end(): Promise<void>;
}

/** Rows are compared as text: all that decides how a value is written is the same at both places. */
const SAME_TEXT = `set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres';
  set bytea_output = 'hex'; set extra_float_digits = 1; set synchronous_commit = 'on'`;

/** Connects to the place at `url`. @throws Error when it does not answer. */
export async function openPlace(url: string): Promise<Place> {
  const client = new pg.Client({
    ...{ connectionString: url, application_name: 'svcctl shard move' },
    ...{ connectionTimeoutMillis: 10_000, keepAlive: true },
  });
  // What breaks while nothing is asked is found by the next question.
  client.on('error', () => {});
  await client.connect();
  await client.query(SAME_TEXT);
  const schema = ledgerSchemaOf(url);
  return {
    ...{ url, schema },
    query: async <Row extends pg.QueryResultRow>(
      text: string,
      values: unknown[] = [],
      options?: { readonly answer_ms: number },
    ) => {
      const statement = { text: inLedgerSchema(text, schema), values };
      const bounded = options && { query_timeout: Math.max(1, Math.ceil(options.answer_ms)) };
      return (await client.query<Row>({ ...statement, ...bounded } as pg.QueryConfig)).rows;
    },
    end: () => endSoon(client),
  };
}

/** A farewell that is not answered is waited for this long. */
const FAREWELL_MS = 2_000;

async function endSoon(client: pg.Client): Promise<void> {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  const timer = setTimeout(() => connection.stream.destroy(), FAREWELL_MS);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

/** What is the same at every place, or of this place alone. */
const NOT_MOVED = ['moved', 'svc_migration', 'entry_kind', 'unit_kind'];
/** Written by the move itself. */
const OWN = ['move_mark', 'sweeping'];
/** The order in which the tables are locked: the sweeper's row is locked before books are, books before everything else. */
const FIRST = ['sweeping', 'book'];

/** The tables whose rows move, in the order of locks. */
export async function listTables(place: Place): Promise<readonly string[]> {
  const rows = await place.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> all ($2)
      order by array_position($3, c.relname::text), c.relname collate "C"`,
    [place.schema, NOT_MOVED, FIRST],
  );
  return rows.map(({ name }) => name);
}

/** Where the ledger has gone from here; null while it is here. @throws Error where there is no ledger of this release. */
export async function readLeft(place: Place): Promise<string | null> {
  const [row] = await place.query<{ place: string }>('select place from ledger.moved');
  return row?.place ?? null;
}

/** The number of the last migration. */
export async function readVersion(place: Place): Promise<number> {
  const [row] = await place.query<{ version: number }>(
    'select max(version)::int as version from ledger.svc_migration',
  );
  return row?.version ?? 0;
}

/** Of moves, among advisory locks. */
const LOCK = 730_511_821;

/** Keeps others from moving the ledger that is here, as long as this connection stands; false where another one does. */
export async function lockMove(source: Place): Promise<boolean> {
  const [row] = await source.query<{ locked: boolean }>(
    'select pg_try_advisory_lock($1, hashtext($2)) as locked',
    [LOCK, source.schema],
  );
  return row!.locked;
}

/** What tells two places apart, and whether the server gives its changes to others. */
export async function readServer(place: Place): Promise<{ system: string; wal_level: string }> {
  const [row] = await place.query<{ system: string; wal_level: string }>(
    `select (select system_identifier from pg_control_system())::text || ' ' || current_database() as system,
            current_setting('wal_level') as wal_level`,
  );
  return row as { system: string; wal_level: string };
}

/** Names of living processes with a lease that do not know the place `name`. */
export async function findUnaware(source: Place, name: string): Promise<readonly string[]> {
  const rows = await source.query<{ process: string }>(
    `select distinct process from ledger.lease
      where expires_at > clock_timestamp() and (places @> array[$1]) is not true order by process`,
    [name],
  );
  return rows.map(({ process }) => process);
}

/** The first table that has rows beside those of its migrations; null where the place is empty. */
export async function findFilled(place: Place): Promise<string | null> {
  for (const table of await listTables(place)) {
    if (table === 'sweeping') continue;
    const rows = await place.query(`select from ledger.${table} limit 1`);
    if (rows.length > 0) return table;
  }
  return null;
}

/** Takes away what a move has brought, so that the place is as its migrations made it. */
export async function emptyPlace(place: Place): Promise<void> {
  const tables = (await listTables(place)).map((table) => `ledger.${table}`).join(', ');
  await place.query(
    `begin; truncate ${tables} restart identity; insert into ledger.sweeping default values; commit`,
  );
}

/** Makes the months at `target` that `source` has, and takes away the row of the sweeper, which is copied. */
export async function preparePlace(source: Place, target: Place): Promise<void> {
  const [row] = await source.query<{ first: string | null }>(
    `select to_char(to_date(min(right(i.inhrelid::regclass::text, 6)), 'YYYYMM'), 'YYYY-MM-DD') as first
       from pg_inherits i where i.inhparent = 'ledger.meter'::regclass
        and i.inhrelid::regclass::text ~ '_[0-9]{6}$'`,
  );
  const first = row?.first ?? null;
  if (first !== null)
    await target.query(
      `select ledger.make_meter_partitions($1::date, 4 + (extract(year from age(current_date, $1::date)) * 12
                + extract(month from age(current_date, $1::date)))::int)`,
      [first],
    );
  await target.query('delete from ledger.sweeping');
}

interface Fingerprint {
  readonly rows: string;
  readonly hash: string;
}

/** How many rows a table has and what is in them, whatever their order. */
async function readFingerprint(place: Place, table: string): Promise<Fingerprint> {
  const [row] = await place.query<{ rows: string; hash: string }>(
    `select count(*)::text as rows, coalesce(bit_xor(('x' || left(md5(t::text), 16))::bit(64)::bigint), 0)::text as hash
       from ledger.${table} t`,
  );
  return row as Fingerprint;
}

/** The first of `tables` whose rows differ between the places; null where none does. */
export async function findDifference(
  source: Place,
  target: Place,
  tables: readonly string[],
): Promise<string | null> {
  for (const table of tables) {
    if (OWN.includes(table)) continue;
    const [left, right] = await Promise.all([readFingerprint(source, table), readFingerprint(target, table)]);
    if (left.rows !== right.rows) return `${table}: ${left.rows} rows, and ${right.rows} in the new place`;
    if (left.hash !== right.hash) return `${table}: ${left.rows} rows, not all of them the same`;
  }
  return null;
}

/** What the books of a ledger come to: whoever has another history has another head. */
const MONEY = `
  select concat_ws(' ', count(*), sum(available), sum(held), sum(granted), sum(seq), sum(block_no),
                   bit_xor(('x' || encode(substr(head, 1, 8), 'hex'))::bit(64)::bigint),
                   (select concat_ws(' ', count(*), sum(amount)) from ledger.hold)) as money
    from ledger.book`;

/** Whether both places have the same books and holds. @throws Error when that takes longer than `answer_ms`. */
export async function isSameMoney(source: Place, target: Place, answer_ms: number): Promise<boolean> {
  const read = (place: Place) => place.query<{ money: string }>(MONEY, [], { answer_ms });
  const [[left], [right]] = await Promise.all([read(source), read(target)]);
  return left!.money === right!.money;
}

/**
 * Locks out writers of `tables` until the transaction ends; they wait. Readers go on. @throws Error when a lock takes half of
 * `ms_max`, as every later statement of the transaction does after `ms_max`.
 */
export async function freeze(source: Place, tables: readonly string[], ms_max: number): Promise<void> {
  const list = (all: readonly string[]) => all.map((table) => `ledger.${table}`).join(', ');
  const locked = tables.filter((table) => table !== 'move_mark');
  // Should this process stand still, the server lets the writers go on.
  await source.query(`begin; set local idle_in_transaction_session_timeout = '5s'`);
  // Keeps vacuum away without keeping anybody else: behind a lock that waits for it, every call would wait too.
  await source.query(`lock table ${list(locked)} in share update exclusive mode`);
  await source.query(
    `select set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)`,
    [`${Math.ceil(ms_max / 2)}ms`, `${ms_max}ms`],
  );
  await source.query(`lock table ${list(locked)} in exclusive mode`);
}

/** Ends the transaction of `freeze`, and with it this place: the ledger is in `place` from now on. */
export async function leavePlace(source: Place, place: string): Promise<void> {
  await source.query('select ledger.leave($1, $2, clock_timestamp())', [source.schema, place]);
  // A commit that waits for a standby must not end before the standby has it.
  await source.query('set local statement_timeout = 0');
  await source.query('commit');
}

/** Writes a mark; whoever has it at the other place has all that was committed here before. */
export async function writeMark(source: Place, mark: string): Promise<void> {
  await source.query('insert into ledger.move_mark (mark) values ($1)', [mark]);
}

/** Whether a mark has come, and with it what was committed before it. */
export async function hasMark(target: Place, mark: string, answer_ms: number): Promise<boolean> {
  const text = 'select from ledger.move_mark where mark = $1';
  return (await target.query(text, [mark], { answer_ms })).length > 0;
}

/**
 * Readies a place that has every change: numbers go on behind those that were given out, and the sweeper waits a lease time,
 * since another server's clock counts now. Committed to disk, and with it what came before.
 */
export async function readyPlace(source: Place, target: Place, answer_ms: number): Promise<void> {
  const columns = await source.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = $1::regnamespace and c.relkind = 'r' and a.attidentity <> ''`,
    [source.schema],
  );
  await target.query('begin', [], { answer_ms });
  for (const { table, column } of columns) {
    const named = `ledger.${table}`;
    const [last] = await source.query<{ value: string; is_called: boolean }>(
      `select last_value::text as value, is_called from ${await sequenceOf(source, named, column, answer_ms)}`,
    );
    const sequence = await sequenceOf(target, named, column, answer_ms);
    const values = [sequence, last!.value, last!.is_called];
    await target.query('select setval($1::regclass, $2, $3)', values, { answer_ms });
  }
  await target.query(`update ledger.sweeping set ran_at = clock_timestamp() - interval '1 hour'`, [], {
    answer_ms,
  });
  await target.query('commit', [], { answer_ms });
}

async function sequenceOf(place: Place, table: string, column: string, answer_ms: number): Promise<string> {
  const named = inLedgerSchema(table, place.schema);
  const text = 'select pg_get_serial_sequence($1, $2) as name';
  const [row] = await place.query<{ name: string }>(text, [named, column], { answer_ms });
  return row!.name;
}

/** Keeps what `target` has now in sight of this connection, whatever is written there later. */
export async function keepSight(target: Place, answer_ms: number): Promise<void> {
  await target.query('begin isolation level repeatable read read only', [], { answer_ms });
  await target.query('select from ledger.book limit 1', [], { answer_ms });
}

/** Ends a transaction at a place that may not answer. @throws Error when it does not. */
export async function rollBack(place: Place, answer_ms: number): Promise<void> {
  await place.query('rollback', [], { answer_ms });
}

interface Sizes {
  readonly books: number;
  readonly bytes: number;
}

/** How many books are here, and how much space the ledger takes. */
export async function readSizes(place: Place): Promise<Sizes> {
  const [row] = await place.query<{ books: number; bytes: number }>(
    `select (select count(*) from ledger.book)::int as books,
            (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
              where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'm')) as bytes`,
    [place.schema],
  );
  return row as Sizes;
}

/** What keeps programs from using the ledger here, or it from moving away; empty when nothing does. */
export async function checkPlace(place: Place): Promise<readonly string[]> {
  const [row] = await place.query<{ login: string; acts: boolean; uses: boolean; standby: boolean }>(
    `select current_user as login, pg_has_role(current_user, 'svc_runtime', 'member') as acts,
            has_schema_privilege('svc_runtime', $1, 'usage') as uses, pg_is_in_recovery() as standby`,
    [place.schema],
  );
  const { login, acts, uses, standby } = row!;
  return [
    ...(standby ? ['the address leads to a standby'] : []),
    ...(acts ? [] : [`${login} may not act as svc_runtime: grant svc_runtime to it`]),
    ...(uses ? [] : [`svc_runtime may not use the schema ${place.schema}`]),
  ];
}
