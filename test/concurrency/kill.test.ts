// kill -9 of a gateway at each point of a call. Bound: a lease of two seconds, and the sweeper's round.

import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openCallers } from '../crash/caller.ts';
import type { PlannedCall } from '../crash/plan.ts';
import { crashProviders, startCrashProvider } from '../crash/provider.ts';
import type { Sim } from '../sim/providers/index.ts';
import { untilBook } from '../support/books.ts';
import { createTestDatabase } from '../support/database.ts';
import { freshDataDir, type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { provision } from '../support/provision.ts';
import { aCall, EXACT_MICRO } from './money.ts';

const BALANCE = 1_000_000;
/** Time for lease and sweep after a process is back. How long a process takes to start depends on the machine. */
const HEALED_MS = 25_000;

const until = async (holds: () => boolean): Promise<void> => {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('the point of the call was not reached');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

const hasReached = (provider: Sim, no: number) => provider.calls.some((call) => call.mark === String(no));

async function openScene() {
  const database_url = await createTestDatabase();
  const provider = await startCrashProvider();
  const org = await provision({ database_url, live_micro_usd: BALANCE });
  const data_dir = freshDataDir();
  const start = () =>
    startGatewayProcess({
      database_url,
      providers: crashProviders(provider),
      name: 'killed',
      data_dir,
      env: { CRASH_API_KEY: 'sk-crash', SVC_LEDGER_LEASE_SECONDS: '2' },
    });
  const callers = openCallers();
  let gateway = await start();
  return {
    ...{ database_url, provider, org, callers },
    close: async () => {
      await callers.close();
      await gateway.kill();
      await provider.close();
      rmSync(data_dir, { recursive: true, force: true });
    },
    gateway: (): GatewayProcess => gateway,
    restart: async () => {
      await gateway.kill();
      gateway = await start();
    },
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

interface Point {
  readonly name: string;
  readonly call: Partial<PlannedCall>;
  /** Resolves at the point of the call at which the process is killed. */
  readonly reached: (provider: Sim, no: number, ended: Promise<unknown>) => Promise<unknown>;
  readonly charged: number;
}

const points: readonly Point[] = [
  {
    name: 'after the hold, before the provider answers',
    call: { chunks: 100, chunk_ms: 50 },
    reached: (provider, no) => until(() => hasReached(provider, no)),
    charged: 0,
  },
  {
    name: 'in the middle of a stream',
    call: { stream: true, chunks: 100, chunk_ms: 50 },
    reached: (provider, no) =>
      until(() => hasReached(provider, no)).then(() => new Promise((r) => setTimeout(r, 500))),
    charged: 0,
  },
  {
    name: 'as soon as the answer has ended',
    call: {},
    reached: (_, __, ended) => ended,
    charged: 1,
  },
  {
    name: 'as soon as the stream has ended',
    call: { stream: true },
    reached: (_, __, ended) => ended,
    charged: 1,
  },
];

describe('a gateway killed', { timeout: 120_000 }, () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene?.close());
  let expected = 0;

  test.each(points)('$name: charged $charged times, nothing held after the lease', async (point) => {
    const { callers, provider, gateway, org, restart, database_url } = scene;
    const call = aCall(org.live_key, point.call);
    const ended = callers.send(gateway().base_url, call);
    await point.reached(provider, call.no, ended);
    await restart();
    const { seen } = await ended;
    expect(seen.kind).toBe(point.charged === 1 ? 'final' : 'lost');
    expected += point.charged;
    const book = await untilBook(database_url, org.live_book_id, (b) => b.held === 0, HEALED_MS);
    expect(book.charges).toHaveLength(expected);
    expect(book.available).toBe(BALANCE - expected * EXACT_MICRO);
  });

  test('before the body has come: nothing held, nothing charged', async () => {
    const { gateway, org, restart, database_url } = scene;
    const socket = connect(gateway().port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.live_key}\r\n` +
        'content-type: application/json\r\ncontent-length: 500\r\n\r\n{"model":',
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    await restart();
    socket.destroy();
    const book = await untilBook(database_url, org.live_book_id, (b) => b.held === 0, HEALED_MS);
    expect(book.charges).toHaveLength(expected);
  });
});
