// A move that is killed after each of its steps, and gone on with: callers see nothing of it, and no call is charged twice or
// not at all. One ledger goes through as many places as there are steps.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createPool } from '@svc/core/db/index.ts';
import { moveLedger, STEPS, type Step } from '@svc/core/ledger/index.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { NODE_FLAGS } from '../support/entry.ts';
import { placeName, startWorld, type World } from './world.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const MOVER = new URL('./mover.ts', import.meta.url).pathname;
let world: World;
let pool: ReturnType<typeof createPool>;
/** Where the ledger is. */
let at = 0;

beforeAll(async () => {
  world = await startWorld({ gateways: 1, on: [[0, ...STEPS.map(() => 1)]] });
  pool = createPool(world.database_url, { max: 2 });
});
afterAll(() => pool?.end());

const endsOf = (place: number) => {
  const [from, to] = [place, place + 1].map((n) => ({
    name: placeName('a', n),
    url: world.places[n] as string,
  }));
  return { shard: 'a', from: from!, to: to! };
};

/** Starts the next move in a process that dies after `step`. */
async function moveUntil(step: Step): Promise<void> {
  const { from, to } = endsOf(at);
  const words = [world.database_url, `${from.name}=${from.url}`, `${to.name}=${to.url}`, step];
  const child = spawn(process.execPath, [...NODE_FLAGS, MOVER, ...words], { stdio: 'inherit' });
  const [, signal] = await once(child, 'exit');
  expect(signal, `the process that was to die after ${step}`).toBe('SIGKILL');
}

async function goOn() {
  const ends = endsOf(at);
  const moved = await moveLedger({
    ...{ ...ends, db: pool, source_url: ends.from.url, freeze_ms_max: 900 },
    onStep: () => {},
  });
  expect(moved.report).toMatchObject({ ok: true, findings: [] });
  at++;
}

test.each(STEPS)(
  'killed after %s and gone on with: every call is answered, charged once, and none waits long',
  async (step) => {
    const load = world.load(4);
    await load.more(20);
    await moveUntil(step);
    // Nothing waits for the one who was killed.
    await load.more(20);
    await goOn();
    await load.more(20);
    await load.stop();
    expect(load.seen.filter(({ kind }) => kind !== 'final')).toEqual([]);
    // As long as a hold waits for its ledger before it is refused.
    expect(load.longest_ms).toBeLessThan(3_000);
    await world.expectCharged(at, load.seen);
  },
);
