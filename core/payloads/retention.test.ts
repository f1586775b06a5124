import { createPool, type Pool } from '@svc/core/db/index.ts';
import { newId, newUlid, type RequestId } from '@svc/core/kernel/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { purgePayloads, voidBefore } from './retention.ts';
import { insertPayloads, preparePayloadDays } from './store.ts';

const DAY_MS = 86_400_000;
let pool: Pool;

beforeAll(async () => {
  pool = createPool(await createTestDatabase(), { max: 2, role: 'svc_runtime' });
});
afterAll(() => pool.end());

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** A request id of the time `ms`. */
function idAt(ms: number): RequestId {
  let time = '';
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32))
    time = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[rest % 32] + time;
  return `${time}${newUlid().slice(10)}` as RequestId;
}

async function partitions(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'test.partitions',
    text: `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'request_payload'::regclass`,
  });
  return rows.map(({ name }) => name).sort();
}

test('partitions of days without content are dropped, others and those of coming days are not', async () => {
  const now = Date.now();
  await preparePayloadDays(pool, { first: day(now - 5 * DAY_MS), last: day(now + DAY_MS) });
  expect(await partitions()).toHaveLength(8);
  const org_id = newId('org');
  const old = { request_id: idAt(now - 4 * DAY_MS), org_id, sealed: Buffer.from('x') };
  await insertPayloads(pool, [old, { ...old, request_id: idAt(now) }]);
  // There is no such organization: nobody asks for its content to be kept.
  expect(await purgePayloads(pool, new Date(now))).toBe(2);
  const left = await partitions();
  expect(left).toContain('request_payload_default');
  expect(left).toHaveLength(4);
  expect(left).toContain(`request_payload_${day(now - DAY_MS).replaceAll('-', '')}`);
});

test('content cannot be read from the moment logging is off, and from the millisecond its days are over', () => {
  const redact = { presets: [], patterns: [] };
  const policy = { retention_days: 2, zdr: false, no_train: false, regions: [], redact };
  const on = { data_policy: { ...policy, logging: 'on' as const }, logging_off_at: null };
  expect(voidBefore(on, 10 * DAY_MS)).toEqual({ erased_ms: 0, expired_ms: 8 * DAY_MS });
  const again = { ...on, logging_off_at: new Date(9 * DAY_MS) };
  expect(voidBefore(again, 10 * DAY_MS).erased_ms).toBe(9 * DAY_MS);
  const off = { data_policy: { ...policy, logging: 'off' as const }, logging_off_at: new Date(5) };
  expect(voidBefore(off, 10 * DAY_MS).erased_ms).toBeGreaterThan(10 * DAY_MS);
});
