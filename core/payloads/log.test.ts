// The writer against a database that is there, away, or slow: memory is bounded, calls never wait.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { newId, newRequestId, type RequestId, silentLog } from '@svc/core/kernel/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { openPayloadLog } from './log.ts';
import { openPayload } from './sealing.ts';
import type { NewPayload, PayloadSlot } from './types.ts';

const root_key = Buffer.alloc(32, 7);
let pool: Pool;

beforeAll(async () => {
  pool = createPool(await createTestDatabase(), { max: 2, role: 'svc_runtime' });
});
afterAll(() => pool.end());

function payload(over: Partial<NewPayload> = {}): NewPayload {
  return {
    request_id: newRequestId(),
    org_id: newId('org'),
    redact: null,
    bytes: 1_000,
    texts: () => ({ request: '{"model":"acme/one"}', response: '{"said":"a@b.co"}' }),
    ...over,
  };
}

async function sealedOf(request_id: RequestId): Promise<Buffer | null> {
  const { rows } = await pool.query<{ sealed: Buffer }>({
    name: 'test.sealed',
    text: 'select sealed from request_payload where request_id = $1',
    values: [request_id],
  });
  return rows[0]?.sealed ?? null;
}

test('what is handed over is sealed for its request and no other, in a partition of its day', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const one = payload({ redact: { presets: ['email'], patterns: [] } });
  (log.open(10) as PayloadSlot).write(one);
  await log.flush();
  const sealed = (await sealedOf(one.request_id)) as Buffer;
  expect(await openPayload(root_key, one.request_id, sealed)).toEqual({
    request: { model: 'acme/one' },
    response: { said: '[REDACTED:email]' },
  });
  await expect(openPayload(root_key, newRequestId(), sealed)).rejects.toThrow();
  await expect(openPayload(Buffer.alloc(32, 8), one.request_id, sealed)).rejects.toThrow();
  expect(log.waiting_bytes).toBe(0);
  const { rows } = await pool.query<{ day: string }>({
    name: 'test.partition',
    text: 'select tableoid::regclass::text as day from request_payload where request_id = $1',
    values: [one.request_id],
  });
  expect(rows[0]?.day).toMatch(/^request_payload_\d{8}$/);
  await log.close();
});

test('beyond its bounds calls are not kept, and counted; room given back is room again', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const slots: PayloadSlot[] = [];
  for (let slot = log.open(8_000_000); slot !== null; slot = log.open(8_000_000)) slots.push(slot);
  expect(slots.length).toBe(8);
  expect([log.dropped, log.waiting_bytes <= 67_108_864]).toEqual([1, true]);
  slots.pop()?.free();
  expect(log.open(8_000_000)).not.toBe(null);
  await log.close();
});

test('one that cannot be read, or redacted, is dropped alone', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const fails = payload({
    texts: () => {
      throw new SyntaxError('no JSON');
    },
  });
  const bad = payload({ redact: { presets: [], patterns: ['('] } });
  const good = payload();
  for (const item of [fails, bad, good]) (log.open(10) as PayloadSlot).write(item);
  await log.flush();
  expect([log.dropped, log.waiting_bytes]).toEqual([2, 0]);
  expect(await sealedOf(fails.request_id)).toBe(null);
  expect(await sealedOf(bad.request_id)).toBe(null);
  expect(await sealedOf(good.request_id)).not.toBe(null);
  await log.close();
});

test('content larger than four megabytes leaves nothing but its place', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const large = payload({ texts: () => ({ request: `"${'x'.repeat(4_200_000)}"`, response: '"y"' }) });
  (log.open(10) as PayloadSlot).write(large);
  await log.flush();
  const sealed = (await sealedOf(large.request_id)) as Buffer;
  expect(await openPayload(root_key, large.request_id, sealed)).toEqual({ request: null, response: null });
  await log.close();
});

test('while PostgreSQL is away content waits within its bounds, and goes in when it is back', async () => {
  let away = true;
  const flaky = {
    ...pool,
    query: (statement: Parameters<Pool['query']>[0]) =>
      away
        ? Promise.reject(Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }))
        : pool.query(statement),
  } as Pool;
  const log = openPayloadLog({ db: flaky, log: silentLog, root_key });
  const one = payload();
  (log.open(10) as PayloadSlot).write(one);
  await log.flush();
  expect(await sealedOf(one.request_id)).toBe(null);
  expect(log.waiting_bytes).toBeGreaterThan(0);
  away = false;
  await expect.poll(() => sealedOf(one.request_id), { timeout: 5_000 }).not.toBe(null);
  await expect.poll(() => log.waiting_bytes).toBe(0);
  await log.close();
});
