// The replication of a move: a publication and a slot at the old place, a subscription at the new one, all of one name.
// https://www.postgresql.org/docs/18/logical-replication.html
import pg from 'pg';
import { ledgerSchemaOf } from '../../db/index.ts';
import { monotonicMs, sha256Hex } from '../../kernel/index.ts';
import { type MoveEnds, MoveRefused } from './check.ts';
import { listTables, type Place } from './place-store.ts';

/** Slots have one name per server, on which several installations may have ledgers of one name. */
export function replicationName({ shard, from, to }: MoveEnds): string {
  const database = new URL(from.url).pathname.slice(1);
  return `svc_move_${shard}_${sha256Hex(`${database} ${ledgerSchemaOf(from.url)} ${to.name}`).slice(0, 8)}`;
}

/** Of every table whose rows move. */
export async function makePublication(source: Place, name: string): Promise<void> {
  if ((await source.query('select from pg_publication where pubname = $1', [name])).length > 0) return;
  const tables = (await listTables(source)).map((table) => `ledger.${table}`);
  // Months are partitions of their own at each place.
  await source.query(
    `create publication ${name} for table ${tables.join(', ')} with (publish_via_partition_root = true)`,
  );
}

/**
 * By itself, because a subscription to a database of its own server would wait for itself if it made the slot. With
 * `is_followed` it is there, or what changed meanwhile is lost to the new place. @throws MoveRefused then.
 */
export async function makeSlot(
  source: Place,
  name: string,
  { is_followed }: { is_followed: boolean },
): Promise<void> {
  const [slot] = await source.query<{ lost: boolean }>(
    `select coalesce(wal_status = 'lost', false) as lost from pg_replication_slots where slot_name = $1`,
    [name],
  );
  if (slot?.lost === false) return;
  if (slot !== undefined || is_followed)
    throw new MoveRefused(
      'the old server has not kept what the new place has yet to get: end the move by --abort, and begin it again',
    );
  await source.query(`select pg_create_logical_replication_slot($1, 'pgoutput')`, [name]);
}

/**
 * It copies with commits to disk: a server that died would else forget which tables it has, while the old one has given up what
 * it needed to go on with them, and the copy would stand still. `source_url` is the old place as the server of the new one reaches it.
 * @throws MoveRefused on one that was being taken down.
 */
export async function makeSubscription(target: Place, name: string, source_url: string): Promise<void> {
  const found = await findSubscription(target, name);
  if (found === null) {
    await target.query(
      `create subscription ${name} connection ${pg.escapeLiteral(libpqUrl(source_url))} publication ${name}
         with (create_slot = false, slot_name = ${name}, synchronous_commit = on)`,
    );
    return;
  }
  if (!found.has_slot) throw new MoveRefused('the move was being called off: end that by --abort');
  await resumeSubscription(target, name);
}

/** Every table is copied: what is lost of later changes by a server that dies, the old one sends again. */
export async function followFast(target: Place, name: string): Promise<void> {
  await target.query(`alter subscription ${name} set (synchronous_commit = off)`);
}

/** What a paused subscription says while its place has everything that was written at the old one. */
const WHOLE = 'whole';

/**
 * From here on nothing is applied any more, whatever the old server has to say when it comes back. Says at the new place, which has
 * every change just now, that it has: should the old server never come back, nobody else knows.
 */
export async function pauseSubscription(target: Place, name: string, answer_ms: number): Promise<void> {
  await target.query(
    `begin; alter subscription ${name} disable; comment on subscription ${name} is '${WHOLE}'; commit`,
    [],
    { answer_ms },
  );
}

/** It goes on where it stopped. */
export async function resumeSubscription(target: Place, name: string): Promise<void> {
  await target.query(
    `begin; comment on subscription ${name} is null; alter subscription ${name} enable; commit`,
  );
}

/** Whether the new place had everything when the subscription was paused. */
export async function isWhole(target: Place, name: string): Promise<boolean> {
  return (await findSubscription(target, name))?.is_whole === true;
}

/** The server's own library refuses parameters that are ours. */
function libpqUrl(url: string): string {
  const to = new URL(url);
  to.searchParams.delete('ledger_schema');
  to.searchParams.delete('prepared_statements');
  return to.href;
}

interface Subscription {
  readonly oid: string;
  readonly has_slot: boolean;
  readonly is_whole: boolean;
  /** The server that has it. */
  readonly system: string;
}

/** That of this database: the list is of the whole server, on which another database may have one of the same name. */
async function findSubscription(target: Place, name: string): Promise<Subscription | null> {
  const [row] = await target.query<Subscription & pg.QueryResultRow>(
    `select oid::text, subslotname is not null as has_slot,
            obj_description(oid, 'pg_subscription') is not distinct from $2 as is_whole,
            (select system_identifier from pg_control_system())::text as system
       from pg_subscription where subname = $1
        and subdbid = (select oid from pg_database where datname = current_database())`,
    [name, WHOLE],
  );
  return row ?? null;
}

export interface Copying {
  readonly tables: number;
  readonly copied: number;
  /** Faults that the server has met while it copied or applied; it tries again by itself. */
  readonly faults: number;
}

/** How far the first copy is; no table at all where there is no subscription. */
export async function readCopying(target: Place, name: string): Promise<Copying> {
  const found = await findSubscription(target, name);
  if (found === null) return { tables: 0, copied: 0, faults: 0 };
  const [row] = await target.query<Copying & pg.QueryResultRow>(
    `select count(*)::int as tables, count(*) filter (where srsubstate = 'r')::int as copied,
            coalesce((select apply_error_count + sync_error_count from pg_stat_subscription_stats
                       where subid = $1::oid), 0)::int as faults
       from pg_subscription_rel where srsubid = $1::oid`,
    [found.oid],
  );
  return row!;
}

/**
 * Whether a table that is copied has lost its slot at the old server, from which it would have to catch up: the new one drops it a
 * moment before it commits that it has caught up, and if it dies in between it asks for that slot for ever.
 */
export async function isStranded(source: Place, target: Place, name: string): Promise<boolean> {
  const found = await findSubscription(target, name);
  if (found === null) return false;
  const copied = await target.query<{ table: string }>(
    `select srrelid::text as table from pg_subscription_rel where srsubid = $1::oid and srsubstate = 'f'`,
    [found.oid],
  );
  if (copied.length === 0) return false;
  const slots = await findCopySlots(source, found);
  return copied.some(({ table }) => !slots.includes(copySlot(found, table)));
}

/** https://www.postgresql.org/docs/18/logical-replication-subscription.html#LOGICAL-REPLICATION-SUBSCRIPTION-SLOT */
function copySlot({ oid, system }: Subscription, table: string): string {
  return `pg_${oid}_sync_${table}_${system}`;
}

/** The slots of copies that have not caught up. */
async function findCopySlots(source: Place, subscription: Subscription): Promise<string[]> {
  const rows = await source.query<{ slot: string }>(
    'select slot_name::text as slot from pg_replication_slots where slot_name ~ $1',
    [`^${copySlot(subscription, '[0-9]+')}$`],
  );
  return rows.map(({ slot }) => slot);
}

/**
 * Ends the subscription by what is done at the new place alone. Left to end the slot too, the server forgets first how far it has
 * applied; where it cannot reach the old one then, it keeps the subscription, and when that server is back it applies changes
 * once more, from wherever the slot stands, over what programs have written since.
 */
export async function dropSubscription(target: Place, name: string): Promise<void> {
  if ((await findSubscription(target, name)) === null) return;
  await target.query(`alter subscription ${name} disable`);
  await target.query(`alter subscription ${name} set (slot_name = none)`);
  await target.query(`drop subscription ${name}`);
}

/**
 * Ends the subscription of a move that is called off, and before it what its unfinished copies have at the old server: a slot each,
 * for which that server would keep its log for ever. The new server ends them itself if it reaches the old one just then, and
 * says nothing if not. Their names are known as long as the subscription is there.
 */
export async function callOff(source: Place, target: Place, name: string): Promise<void> {
  const found = await findSubscription(target, name);
  if (found !== null) {
    await target.query(`alter subscription ${name} disable`);
    await untilFree(source, await findCopySlots(source, found), () => endCopies(target, found));
  }
  await dropSubscription(target, name);
}

/** A disabled subscription begins no copy, but those that run go on to their end. */
async function endCopies(target: Place, { oid }: Subscription): Promise<void> {
  await target.query('select pg_terminate_backend(pid) from pg_stat_subscription where subid = $1::oid', [
    oid,
  ]);
}

/** The old server finds out within this time that nobody listens any more (`wal_sender_timeout`). */
const SLOT_FREE_MS = 90_000;
const SLOT_POLL_MS = 50;

/** What is left at the old place. @throws MoveRefused while its server still sends. */
export async function dropPublication(source: Place, name: string): Promise<void> {
  await untilFree(source, [name]);
  await source.query(`drop publication if exists ${name}`);
}

/** Drops `slots`, each when nobody listens to it any more; `meanwhile` sees to that. @throws MoveRefused while one does. */
async function untilFree(
  source: Place,
  slots: readonly string[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  const until = monotonicMs() + SLOT_FREE_MS;
  for (const slot of slots) {
    while (!(await dropSlot(source, slot))) {
      if (monotonicMs() > until)
        throw new MoveRefused(`the old server still sends from its slot ${slot}: run the same command again`);
      await meanwhile();
      await new Promise((resolve) => setTimeout(resolve, SLOT_POLL_MS));
    }
  }
}

/** Whether the slot is gone, for which the old server would keep its log. */
async function dropSlot(source: Place, name: string): Promise<boolean> {
  const text = 'select active from pg_replication_slots where slot_name = $1';
  const [slot] = await source.query<{ active: boolean }>(text, [name]);
  if (slot === undefined) return true;
  if (slot.active) return false;
  await source.query('select pg_drop_replication_slot($1)', [name]);
  return true;
}
