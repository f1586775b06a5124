// The standard limits of docs/routing.md#limits-of-an-attempt, 90 s between events and 600 s in all, as they are: the
// gateway runs in this process and the test moves the monotonic clock on, while everything beside it is real.
import { afterEach, expect, test } from 'vitest';
import { type Exchange, errorOf } from './caller.ts';
import { bodyOf, eventually, grammarFaults, idOf, useWorld } from './world.ts';

const world = useWorld({ gateway: 'here', models: {} });

const machine = performance.now.bind(performance);
let ahead_ms = 0;
let looks = 0;
performance.now = () => {
  looks++;
  return machine() + ahead_ms;
};
afterEach(() => {
  ahead_ms = 0;
});

/** Resolves when `holds`; by the machine's clock, which no test moves. */
async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = machine() + 10_000;
  while (!holds()) {
    if (machine() > deadline) throw new Error(`not within 10 s: ${what}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** Moves the gateway's clock on and waits until its ticker has looked at it more than once. */
async function advance(ms: number): Promise<void> {
  ahead_ms += ms;
  const at = machine();
  const seen = looks;
  await until('the ticker looks', () => machine() - at > 250 && looks > seen + 1);
}

async function begin(kind: 'chat' | 'messages', text: string, more: object) {
  const org = await world().org();
  const { id, upstream } = world().model(kind);
  const exchange: Exchange = world().chat(org.live_key, bodyOf(id, text, { max_tokens: 8_000, ...more }));
  const reached = () => world().sim.calls.find((call) => call.model === upstream) ?? null;
  await eventually('the provider has the call', reached);
  return { org, exchange };
}

test.each(['chat', 'messages'] as const)(
  'a silence of 90 s after content is a fault of the provider, one of 80 s is none (docs/outcomes.md#silent-mid-stream, %s)',
  async (kind) => {
    const text = 'sim: tokens=400 chunks=100 stall_after=20';
    const { org, exchange } = await begin(kind, text, { stream: true });
    // All that comes: what came after the clock has moved would end the silence.
    await exchange.until((text) => (text.match(/"content":"[^"]/g) ?? []).length >= 20);
    await advance(80_000);
    // Silence enough for a sign of life, which is what tells that the call was looked at.
    await exchange.until((text) => /^: /m.test(text));
    await advance(11_000);
    const reply = await exchange.reply;
    expect(errorOf(reply)?.['code']).toBe('upstream_timeout');
    expect(grammarFaults('chat', reply)).toEqual([]);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row).toMatchObject({ status: 'error', http_status: 200, error_code: 'upstream_timeout' });
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['timeout idle'] });
  },
);

test('a whole answer that takes longer than 600 s is given up uncharged, one of 590 s is waited for', async () => {
  const { org, exchange } = await begin('chat', 'sim: delay_ms=60000', {});
  await advance(590_000);
  let answered = false;
  void exchange.status.then(() => {
    answered = true;
  });
  expect(answered).toBe(false);
  await advance(11_000);
  const reply = await exchange.reply;
  expect(reply.status).toBe(504);
  expect(errorOf(reply)?.['code']).toBe('deadline_exceeded');
  const ended = await world().ended(org, idOf(reply));
  expect(ended.row).toMatchObject({ status: 'error', http_status: 504, error_code: 'deadline_exceeded' });
  expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['timeout timeout'] });
});

test('a stream that never falls silent is ended at 600 s, uncharged (docs/outcomes.md#time-is-up)', async () => {
  const text = 'sim: tokens=7900 chunks=7900 chunk_ms=20';
  const { org, exchange } = await begin('chat', text, { stream: true });
  for (let minute = 0; minute < 9; minute++) {
    const seen = exchange.text().length;
    await exchange.until((text) => text.length > seen + 200);
    await advance(60_000);
  }
  const seen = exchange.text().length;
  await exchange.until((text) => text.length > seen + 200);
  await advance(61_000);
  const reply = await exchange.reply;
  expect(errorOf(reply)?.['code']).toBe('deadline_exceeded');
  const ended = await world().ended(org, idOf(reply));
  expect(ended.row).toMatchObject({ status: 'error', http_status: 200, error_code: 'deadline_exceeded' });
  expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['timeout timeout'] });
});
