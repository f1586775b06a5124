// A server that dies in the middle of a move. Of calls that were answered none is lost or charged twice, and the move goes on.
// While the server with the ledger is away calls wait or are refused, as ever.
import { createPool } from '@svc/core/db/index.ts';
import { moveLedger, type Step } from '@svc/core/ledger/index.ts';
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
  world = await startWorld({ gateways: 1, on: Array.from({ length: 10 }, () => [OLD, NEW]) });
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

/** Moves a shard; what `works` has for a step is done after it. */
async function moveWith(
  shard: Shard,
  works: Partial<Record<Step, () => unknown>> = {},
  options: { readonly to_url?: string; readonly freeze_ms_max?: number } = {},
) {
  const { from, to, ...ends } = endsOf(shard);
  const db = createPool(world.database_url, { max: 2 });
  try {
    return await moveLedger({
      ...{ ...ends, from, to: { name: to.name, url: options.to_url ?? to.url }, db },
      ...{ source_url: from.url, freeze_ms_max: options.freeze_ms_max ?? 900 },
      onStep: async (step) => void (await works[step]?.()),
    });
  } finally {
    await db.end();
  }
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
    moved = await moveWith(shard);
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
