// A server that dies in the middle of a move. Of calls that were answered none is lost or charged twice, and the move goes on.
// While the server with the ledger is away calls wait or are refused, as ever.
import { createPool } from '@svc/core/db/index.ts';
import { moveLedger, type Step } from '@svc/core/ledger/index.ts';
import { startProxy } from '@svc/core/ledger/testing/proxy.ts';
import { openOwner } from '@svc/core/ledger/testing/testing.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { until } from '../support/programs/until.ts';
import { startWorld, type World } from './world.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

let world: World;
/** Where the ledger is. */
let at = 0;
/** The server of each place. */
const ON = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2];

beforeAll(async () => {
  world = await startWorld({ gateways: 1, on: ON });
});

const nameOf = (place: number) => (place === 0 ? 'a' : `a.${place + 1}`);
const endsOf = (place: number) => {
  const [from, to] = [place, place + 1].map((n) => ({ name: nameOf(n), url: world.places[n] as string }));
  return { shard: 'a', from: from!, to: to! };
};

/** Moves to the next place; `work` is done after `step`. */
async function moveWith(step: Step | null, work: () => Promise<void>) {
  const ends = endsOf(at);
  const db = createPool(world.database_url, { max: 2 });
  try {
    return await moveLedger({
      ...{ ...ends, db, source_url: ends.from.url, freeze_ms_max: 900 },
      onStep: async (done) => {
        if (done === step) await work();
      },
    });
  } finally {
    await db.end();
  }
}

async function goOn(): Promise<void> {
  const moved = await moveWith(null, async () => {});
  expect(moved.report).toMatchObject({ ok: true, findings: [] });
  at++;
}

/** Calls run while a server dies after `step`, until the ledger has moved; how they ended is left to the caller. */
async function moveOver(step: Step, server: number) {
  const load = world.load(4);
  await load.more(20);
  // What is asked of a server that has gone is an error; or the servers try again by themselves.
  let restarted: Promise<void> | null = null;
  const first = await moveWith(step, async () => {
    // Not waited for: writers wait meanwhile, and a busy machine takes seconds to start a server.
    restarted = world.restart(server);
  }).catch((error: Error) => error);
  await restarted;
  await load.more(20);
  if (first instanceof Error) await goOn();
  else at++;
  await load.more(20);
  await load.stop();
  await world.expectCharged(at, load.seen);
  return load.seen;
}

test.each(['subscribed', 'copied', 'frozen'] as const)(
  'the server of the new place dies after %s: callers see nothing, and the move goes on',
  async (step) => {
    const seen = await moveOver(step, ON[at + 1] as number);
    expect(seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  },
);

test.each(['copied', 'frozen', 'left', 'placed'] as const)(
  'the server of the old place dies after %s: what was answered is charged once, and the move goes on',
  async (step) => {
    await moveOver(step, ON[at] as number);
  },
);

test('a new place that falls silent while writers wait keeps them no longer than was said, and the move goes on', async () => {
  const ends = endsOf(at);
  const proxy = await startProxy(ends.to.url);
  const load = world.load(4);
  await load.more(20);
  load.longest_ms = 0;
  const db = createPool(world.database_url, { max: 2 });
  const frozen: Promise<unknown>[] = [];
  const moved = await moveLedger({
    ...{
      ...ends,
      to: { name: ends.to.name, url: proxy.url },
      db,
      source_url: ends.from.url,
      freeze_ms_max: 400,
    },
    onStep(step) {
      if (step !== 'frozen' || frozen.length > 0) return;
      proxy.freeze();
      frozen.push(load.more(20).then(() => proxy.thaw()));
    },
  });
  await Promise.all(frozen);
  await load.more(20);
  await load.stop();
  await db.end();
  proxy.close();
  at++;
  expect(moved.freezes).toBeGreaterThan(1);
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  process.stdout.write(`silent place: longest call ${Math.round(load.longest_ms)} ms\n`);
  await world.expectCharged(at, load.seen);
});

test('a transaction that keeps a book for long keeps the move waiting, and calls only for a moment', async () => {
  const { url } = endsOf(at).from;
  const owner = await openOwner(url);
  const load = world.load(4);
  await load.more(20);
  // Not the book of the calls: they would wait for it without any move.
  const keep = `begin; insert into ledger.book (book_id, org_id, environment) values (9, 'org_y', 1)`;
  const watcher = await openOwner(url);
  const waits = async (text: string) => (await watcher.query(text)).rows.length > 0;
  const LOCKS = `select from pg_locks where not granted and mode = 'ExclusiveLock' and relation = 'ledger.book'::regclass`;
  const moving = moveWith('verified', async () => void (await owner.query(keep)));
  await until('the move waits for the book', () => waits(LOCKS), 60_000);
  await until('the move has given up', async () => !(await waits(LOCKS)));
  await load.more(20);
  await owner.query('rollback');
  const moved = await moving;
  at++;
  await load.more(20);
  await load.stop();
  await Promise.all([owner.end(), watcher.end()]);
  expect(moved.freezes).toBeGreaterThan(1);
  expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
  await world.expectCharged(at, load.seen);
});
