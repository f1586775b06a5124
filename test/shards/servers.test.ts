// A server that dies in the middle of a move. Of calls that were answered none is lost or charged twice, and the move goes on.
// While the server with the ledger is away calls wait or are refused, as ever.
import { createPool } from '@svc/core/db/index.ts';
import type { Db } from '@svc/core/kernel/index.ts';
import { abortMove, endWithoutOld, moveLedger, type Step } from '@svc/core/ledger/index.ts';
import { startProxy } from '@svc/core/ledger/testing/proxy.ts';
import { openOwner } from '@svc/core/ledger/testing/testing.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { until } from '../support/programs/until.ts';
import { placeName, type Shard, startWorld, type World } from './world.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const [OLD, NEW] = [1, 2] as const;
let world: World;
let taken = 0;

beforeAll(async () => {
  world = await startWorld({ gateways: 1, on: Array.from({ length: 15 }, () => [OLD, NEW]) });
});

/** A ledger that no other test has moved, or left half way. */
function takeShard(): Shard {
  const shard = world.shards[taken++];
  if (shard === undefined) throw new Error('there are more tests than shards');
  return shard;
}

function endsOf({ name, places }: Shard) {
  const [from, to] = places.map((url, n) => ({ name: placeName(name, n), url }));
  return { shard: name, from: from!, to: to! };
}

/** What is done with the installation's database. */
async function withDb<T>(work: (db: ReturnType<typeof createPool>) => Promise<T>): Promise<T> {
  const db = createPool(world.database_url, { max: 2 });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}

/** Ends the move of a shard otherwise than by going on with it. */
const endBy = <T>(end: (options: ReturnType<typeof endsOf> & { db: Db }) => Promise<T>, shard: Shard) =>
  withDb((db) => end({ ...endsOf(shard), db }));

const OFF = new Error('the process that moves has ended');
const stop = () => {
  throw OFF;
};

/** Moves a shard; what `works` has for a step is done after it. */
async function moveWith(
  shard: Shard,
  works: Partial<Record<Step, () => unknown>> = {},
  options: { readonly to_url?: string; readonly source_url?: string; readonly freeze_ms_max?: number } = {},
) {
  const { from, to, ...ends } = endsOf(shard);
  return withDb((db) =>
    moveLedger({
      ...{ ...ends, from, to: { name: to.name, url: options.to_url ?? to.url }, db },
      ...{ source_url: options.source_url ?? from.url, freeze_ms_max: options.freeze_ms_max ?? 900 },
      onStep: async (step) => void (await works[step]?.()),
    }),
  );
}

/** Goes on with a move. Where the new server died between two things that it does at once, it cannot: the move says so. */
async function goOn(shard: Shard) {
  return moveWith(shard).catch(async (error: Error) => {
    expect(error.message).toContain('died when a table had just been copied');
    await endBy(abortMove, shard);
    return moveWith(shard);
  });
}

/** What must never be said, whatever has died. */
const WRONG = /not right|other books|differ/;

/** Calls run while a server dies after `step`, until the ledger has moved; how they ended is left to the caller. */
async function moveOver(step: Step, server: number) {
  const shard = takeShard();
  const load = shard.load(4);
  await load.more(20);
  // What is asked of a server that has gone is an error; or the servers try again by themselves.
  let restarted: Promise<void> | null = null;
  let moved = await moveWith(shard, {
    [step]: () => {
      // Not waited for: writers wait meanwhile, and a busy machine takes seconds to start a server.
      restarted ??= world.restart(server);
    },
  }).catch((error: Error) => error);
  await restarted;
  await load.more(20);
  if (moved instanceof Error) {
    expect(moved.message).not.toMatch(WRONG);
    moved = await goOn(shard);
  }
  expect(moved.report).toMatchObject({ ok: true, findings: [] });
  await load.more(20);
  await load.stop();
  await shard.expectCharged(1, load.seen);
  return load.seen;
}

test.each(['subscribed', 'copied', 'frozen'] as const)(
  'the server of the new place dies after %s: callers see nothing, and the move goes on',
  async (step) => {
    const seen = await moveOver(step, NEW);
    expect(seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  },
);

test.each(['copied', 'frozen', 'left', 'placed'] as const)(
  'the server of the old place dies after %s: what was answered is charged once, and the move goes on',
  async (step) => {
    await moveOver(step, OLD);
  },
);

test('an old server that was away at the end of a move comes back and undoes nothing of what was written since', async () => {
  const shard = takeShard();
  const owner = await openOwner(endsOf(shard).from.url);
  const before = shard.load(4);
  await before.more(20);
  await before.stop();
  const ended = Promise.withResolvers<void>();
  let restarted: Promise<void> | null = null;
  const first = moveWith(shard, {
    // The whole row of a book, alone in its transaction: sent once more it meets nothing that would refuse it.
    verified: async () => {
      await owner.query('update ledger.book set held = held');
      await owner.end();
    },
    left: () => {
      restarted = world.restart(OLD, () => ended.promise);
    },
  });
  await expect(first).rejects.toThrow();
  const load = shard.load(4);
  await load.more(40);
  ended.resolve();
  await restarted;
  await load.more(200);
  const moved = await moveWith(shard);
  expect(moved.report).toMatchObject({ ok: true, findings: [] });
  await load.stop();
  await shard.expectCharged(1, [...before.seen, ...load.seen]);
});

test('a new place that falls silent while writers wait keeps them no longer than was said, and the move goes on', async () => {
  const shard = takeShard();
  const proxy = await startProxy(endsOf(shard).to.url);
  const load = shard.load(4);
  await load.more(20);
  load.longest_ms = 0;
  const frozen: Promise<unknown>[] = [];
  const works = {
    frozen: () => {
      if (frozen.length > 0) return;
      proxy.freeze();
      frozen.push(load.more(20).then(() => proxy.thaw()));
    },
  };
  const moved = await moveWith(shard, works, { to_url: proxy.url, freeze_ms_max: 400 });
  await Promise.all(frozen);
  await load.more(20);
  await load.stop();
  proxy.close();
  expect(moved.freezes).toBeGreaterThan(1);
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  process.stdout.write(`silent place: longest call ${Math.round(load.longest_ms)} ms\n`);
  await shard.expectCharged(1, load.seen);
});

test('a transaction that keeps a book for long keeps the move waiting, and calls only for a moment', async () => {
  const shard = takeShard();
  const { url } = endsOf(shard).from;
  const owner = await openOwner(url);
  const load = shard.load(4);
  await load.more(20);
  // Not the book of the calls: they would wait for it without any move.
  const keep = `begin; insert into ledger.book (book_id, org_id, environment) values (99, 'org_y', 1)`;
  const watcher = await openOwner(url);
  const waits = async (text: string) => (await watcher.query(text)).rows.length > 0;
  const LOCKS = `select from pg_locks where not granted and mode = 'ExclusiveLock' and relation = 'ledger.book'::regclass`;
  const moving = moveWith(shard, { verified: () => owner.query(keep) });
  await until('the move waits for the book', () => waits(LOCKS), 60_000);
  await until('the move has given up', async () => !(await waits(LOCKS)));
  await load.more(20);
  await owner.query('rollback');
  const moved = await moving;
  await load.more(20);
  await load.stop();
  await Promise.all([owner.end(), watcher.end()]);
  expect(moved.freezes).toBeGreaterThan(1);
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  await shard.expectCharged(1, load.seen);
});

test('a new server that dies again and again while it copies keeps nobody waiting, and the move ends or says how to', async () => {
  const shard = takeShard();
  const load = shard.load(4);
  await load.more(20);
  for (let deaths = 0; deaths < 4; deaths++) {
    let restarted: Promise<void> | undefined;
    const ended = await moveWith(shard, {
      subscribed: () => {
        restarted = world.restart(NEW);
      },
    }).catch((error: Error) => error);
    await restarted;
    expect(ended).toBeInstanceOf(Error);
    expect((ended as Error).message).not.toMatch(WRONG);
  }
  const moved = await goOn(shard);
  expect(moved.report).toMatchObject({ ok: true, findings: [] });
  await load.more(20);
  await load.stop();
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  await shard.expectCharged(1, load.seen);
});

test('a ledger whose old server goes for good when it was just left is in the new place, with every charge', async () => {
  const shard = takeShard();
  const before = shard.load(4);
  await before.more(20);
  await before.stop();
  const back = Promise.withResolvers<void>();
  let restarted: Promise<void> | undefined;
  const first = moveWith(shard, {
    left: () => {
      restarted = world.restart(OLD, () => back.promise);
      stop();
    },
  });
  await expect(first).rejects.toBe(OFF);
  // Nobody can be asked whether it was left, so the move says what to do.
  await expect(moveWith(shard)).rejects.toThrow('a server that has gone for good');
  expect(await endBy(endWithoutOld, shard)).toMatchObject({ ok: true, findings: [] });
  const load = shard.load(4);
  await load.more(20);
  await load.stop();
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  await shard.expectCharged(1, [...before.seen, ...load.seen]);
  back.resolve();
  await restarted;
});

test('a ledger whose old server goes before the new place has everything is not taken for moved', async () => {
  const shard = takeShard();
  const load = shard.load(2);
  await load.more(10);
  await expect(moveWith(shard, { copied: stop })).rejects.toBe(OFF);
  await expect(endBy(endWithoutOld, shard)).rejects.toThrow('answers, so it has not gone');
  // A try that was given up has paused the copy, and what came later is not there.
  const tried = moveWith(shard, { arrived: stop });
  await expect(tried).rejects.toBe(OFF);
  await expect(moveWith(shard, { copied: stop })).rejects.toBe(OFF);
  await load.more(10);
  await load.stop();
  await world.restart(OLD, async () => {
    await expect(endBy(endWithoutOld, shard)).rejects.toThrow('has no whole copy');
    await expect(endBy(abortMove, shard)).rejects.toThrow('does not answer');
  });
  expect((await moveWith(shard)).report).toMatchObject({ ok: true, findings: [] });
  await shard.expectCharged(1, load.seen);
});

test('changes that the old server has not kept are missed, and the move begins anew after it was called off', async () => {
  const shard = takeShard();
  const load = shard.load(4);
  await load.more(20);
  await expect(moveWith(shard, { copied: stop })).rejects.toBe(OFF);
  const [old, fresh] = await Promise.all(shard.places.map((url) => openOwner(url)));
  // Away while more is written than the old server may keep for it.
  const { rows } = await fresh!.query(
    'select subname from pg_subscription where subdbid = (select oid from pg_database where datname = current_database())',
  );
  await fresh!.query(`alter subscription ${rows[0]!['subname']} disable`);
  await old!.query(`alter system set max_slot_wal_keep_size = '1MB'`);
  await old!.query('select pg_reload_conf()');
  await until('the slot is lost', async () => {
    await old!.query('select pg_switch_wal()');
    await old!.query('checkpoint');
    const text = `select from pg_replication_slots where wal_status = 'lost' and database = current_database()`;
    return (await old!.query(text)).rowCount === 1;
  });
  await old!.query('alter system reset max_slot_wal_keep_size');
  await old!.query('select pg_reload_conf()');
  await Promise.all([old!.end(), fresh!.end()]);
  await expect(moveWith(shard)).rejects.toThrow('has not kept what the new place has yet to get');
  await endBy(abortMove, shard);
  expect((await moveWith(shard)).report).toMatchObject({ ok: true, findings: [] });
  await load.more(20);
  await load.stop();
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  await shard.expectCharged(1, load.seen);
});

test('a move that is called off while it copies leaves nothing at the old server, which the new one reaches no more', async () => {
  const shard = takeShard();
  const { from, to } = endsOf(shard);
  const [old, fresh] = await Promise.all([openOwner(from.url), openOwner(to.url)]);
  const slots = async () =>
    (await old.query('select slot_name from pg_replication_slots where database = current_database()')).rows;
  const way = await startProxy(from.url);
  // The copy of one table waits, and has its own slot meanwhile.
  const moving = moveWith(
    shard,
    { slot: () => fresh.query('begin; lock table ledger.book in share mode'), subscribed: stop },
    { source_url: way.url },
  );
  await expect(moving).rejects.toBe(OFF);
  await until('a copy waits', async () => (await slots()).length > 1);
  way.close();
  const proxy = await startProxy(to.url);
  // The first try ends half way: it cannot empty what is locked, and its connection breaks.
  const first = withDb((db) =>
    abortMove({ ...endsOf(shard), to: { name: to.name, url: proxy.url }, db }).catch((error: Error) => error),
  );
  await until('it waits to empty the place', async () => {
    const text = `select from pg_locks where not granted and mode = 'AccessExclusiveLock' and relation = 'ledger.book'::regclass`;
    return (await fresh.query(text)).rowCount === 1;
  });
  expect(await slots()).toEqual([]);
  proxy.close();
  expect(await first).toBeInstanceOf(Error);
  await fresh.query('rollback');
  await endBy(abortMove, shard);
  expect((await moveWith(shard)).report).toMatchObject({ ok: true, findings: [] });
  await Promise.all([old.end(), fresh.end()]);
});
