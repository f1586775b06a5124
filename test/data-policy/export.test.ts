// How much of an end user's data one answer carries, and what a repeated erasure says.
import { subjectHash } from '@svc/core/privacy/subjects/erase.ts';
import { expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';

const harness = await startHarness();
const { a, call, request_log } = harness;
const RECORDS_MAX = 10_000;

async function callsOf(user_id: string, count: number): Promise<void> {
  const user_hash = await subjectHash(harness.context, { org_id: a.org.id, user_id });
  for (let n = 0; n < count; n++) request_log.write(rowOf(a, { user_hash }));
  await request_log.flush();
}

const exported = (user_id: string, more: object = {}) =>
  call('POST', '/v1/privacy/export', { key: a.key, body: { user_id, ...more } });

test('10,000 records are one JSON answer; one more is refused with what would do, and comes as lines', async () => {
  await callsOf('busy', RECORDS_MAX);
  const whole = await exported('busy');
  expect([whole.statusCode, whole.json().count, whole.json().records.length]).toEqual([
    ...[200, RECORDS_MAX, RECORDS_MAX],
  ]);
  await callsOf('busy', 1);
  const over = await exported('busy');
  expect([over.statusCode, over.json().error]).toMatchObject([
    413,
    { code: 'request_too_large', details: { records_max: RECORDS_MAX } },
  ]);
  expect(over.json().error.message).toContain('"format": "ndjson"');
  const lines = await exported('busy', { format: 'ndjson' });
  const ids = lines.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).request_id);
  expect(new Set(ids).size).toBe(RECORDS_MAX + 1);
}, 60_000);

test('an answer that was refused is not written down as an export', async () => {
  const { data } = (await call('GET', '/v1/privacy/requests', { key: a.key })).json();
  expect(data.map(({ records }: { records: number }) => records).sort()).toEqual([
    ...[RECORDS_MAX, RECORDS_MAX + 1],
  ]);
});
