// The writer against a database that is there, away, or slow: memory is bounded, calls never wait.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { type Id, type Log, newId, newRequestId, type RequestId, silentLog } from '@svc/core/kernel/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { openPayloadLog } from './log.ts';
import { openPayload } from './sealing.ts';
import type { NewPayload, PayloadLog, PayloadSlot } from './types.ts';

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

/** Hands `one` over as its call would. */
function hand(log: PayloadLog, one: NewPayload): void {
  (log.open(one.org_id, 10) as PayloadSlot).write(one);
}

async function sealedOf(request_id: RequestId): Promise<Buffer | null> {
  const { rows } = await pool.query<{ sealed: Buffer }>({
    name: 'test.sealed',
    text: 'select sealed from request_payload where request_id = $1',
    values: [request_id],
  });
  return rows[0]?.sealed ?? null;
}

test('content is encrypted for its request and no other, in the partition of its day', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const one = payload({ redact: { presets: ['email'], patterns: [] } });
  hand(log, one);
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

test('beyond its bounds calls are not kept, but counted and reported; released room can be used again', async () => {
  const reported: object[] = [];
  const warn = (facts: object) => reported.push(facts);
  const log = openPayloadLog({ db: pool, log: { ...silentLog, warn } as Log, root_key });
  const fill = (org_id: Id<'org'>) => {
    const slots: PayloadSlot[] = [];
    for (let slot = log.open(org_id, 5_000_000); slot !== null; slot = log.open(org_id, 5_000_000)) {
      slots.push(slot);
    }
    return slots;
  };
  const [one, two, three, four] = [newId('org'), newId('org'), newId('org'), newId('org')];
  const slots = fill(one);
  expect([slots.length, log.dropped]).toEqual([3, 1]);
  expect(reported).toMatchObject([{ org_id: one, reason: 'organization', dropped: 1 }]);
  slots.pop()?.free();
  expect(log.open(one, 5_000_000)).not.toBe(null);
  // What one has waiting is no matter of another, until all of the room is taken.
  expect([fill(two).length, fill(three).length, fill(four).length]).toEqual([3, 3, 0]);
  // And then there is some for whoever has little.
  for (let n = 0; n < 15; n++) expect(log.open(newId('org'), 900_000)).not.toBe(null);
  expect(log.waiting_bytes).toBeLessThanOrEqual(67_108_864);
  expect(reported).toHaveLength(1);
  await log.close();
});

test('a quiet organization does not wait for a noisy one whose content takes long to redact', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  // Each search walks the whole rest before it settles for one letter.
  const slow = { presets: [], patterns: ['a.*b|a'] };
  const texts = () => ({ request: '1', response: JSON.stringify('a'.repeat(1_500)) });
  const org_id = newId('org');
  const noisy = Array.from({ length: 6 }, () => payload({ org_id, redact: slow, texts }));
  const quiet = payload({ redact: { presets: ['email'], patterns: ['PRJ'] } });
  for (const one of [...noisy, quiet]) hand(log, one);
  const stored = async () => {
    const found = await Promise.all(noisy.map(({ request_id }) => sealedOf(request_id)));
    return found.filter((sealed) => sealed !== null).length;
  };
  await expect.poll(() => sealedOf(quiet.request_id), { timeout: 10_000, interval: 20 }).not.toBe(null);
  expect(await stored()).toBeLessThan(4);
  await log.flush();
  expect([await stored(), log.dropped, log.waiting_bytes]).toEqual([6, 0, 0]);
  await log.close();
}, 20_000);

test('the contents of many organizations are all stored, each once', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const orgs = Array.from({ length: 7 }, () => newId('org'));
  const all = Array.from({ length: 210 }, (_, n) => payload({ org_id: orgs[n % 7] as Id<'org'> }));
  for (const one of all) hand(log, one);
  await log.flush();
  expect([log.dropped, log.waiting_bytes]).toEqual([0, 0]);
  const { rows } = await pool.query<{ org_id: string; count: number }>({
    name: 'test.counts',
    text: `select org_id, count(*)::int as count from request_payload where org_id = any ($1) group by org_id`,
    values: [orgs],
  });
  expect(rows.map(({ count }) => count)).toEqual(orgs.map(() => 30));
  await log.close();
});

test('content that cannot be read, or redacted, is dropped alone', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const fails = payload({
    texts: () => {
      throw new SyntaxError('no JSON');
    },
  });
  const bad = payload({ redact: { presets: [], patterns: ['('] } });
  const good = payload();
  for (const item of [fails, bad, good]) hand(log, item);
  await log.flush();
  expect([log.dropped, log.waiting_bytes]).toEqual([2, 0]);
  expect(await sealedOf(fails.request_id)).toBe(null);
  expect(await sealedOf(bad.request_id)).toBe(null);
  expect(await sealedOf(good.request_id)).not.toBe(null);
  await log.close();
});

test('content that PostgreSQL refuses is dropped alone, not that of others in the same batch', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  // No text of PostgreSQL's holds a NUL.
  const refused = payload({ org_id: 'org_\u0000' as Id<'org'> });
  const others = Array.from({ length: 5 }, () => payload());
  for (const one of [...others.slice(0, 3), refused, ...others.slice(3)]) hand(log, one);
  await log.flush();
  expect([log.dropped, log.waiting_bytes]).toEqual([1, 0]);
  for (const { request_id } of others) expect(await sealedOf(request_id)).not.toBe(null);
  await log.close();
});

test('content larger than four megabytes leaves nothing but its place', async () => {
  const log = openPayloadLog({ db: pool, log: silentLog, root_key });
  const large = payload({ texts: () => ({ request: `"${'x'.repeat(4_200_000)}"`, response: '"y"' }) });
  hand(log, large);
  await log.flush();
  const sealed = (await sealedOf(large.request_id)) as Buffer;
  expect(await openPayload(root_key, large.request_id, sealed)).toEqual({ request: null, response: null });
  await log.close();
});

test('while PostgreSQL is down content waits within its bounds, and is stored when it is back', async () => {
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
  hand(log, one);
  await log.flush();
  expect(await sealedOf(one.request_id)).toBe(null);
  expect(log.waiting_bytes).toBeGreaterThan(0);
  away = false;
  await expect.poll(() => sealedOf(one.request_id), { timeout: 5_000 }).not.toBe(null);
  await expect.poll(() => log.waiting_bytes).toBe(0);
  await log.close();
});
