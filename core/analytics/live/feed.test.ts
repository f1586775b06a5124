// New rows reach whoever watches their organization: each once, late ones too, and nothing is read for nobody.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHarness, type Tenant } from '../../../test/registry/harness.ts';
import { rowOf } from '../../../test/registry/rows.ts';
import { atFileEnd } from '../../../test/support/ends.ts';
import type { Pool } from '../../db/index.ts';
import { type RequestId, silentLog } from '../../kernel/index.ts';
import { openRequestLog } from '../log.ts';
import { openRequestFeed } from './feed.ts';

const harness = await startHarness();
const spool_dir = mkdtempSync(join(tmpdir(), 'svc-feed-'));
const log = await openRequestLog({ db: harness.pool, log: silentLog, spool_dir });
atFileEnd(async () => {
  await log.close();
  rmSync(spool_dir, { recursive: true, force: true });
});
let polls = 0;
const db: Pick<Pool, 'query'> = {
  query: (statement) => {
    polls++;
    return harness.pool.query(statement);
  },
};
const feed = openRequestFeed({ db, log: silentLog, interval_ms: 20 });
atFileEnd(async () => feed.close());

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** An id of a call that began `ago_ms` before now. */
function begun(ago_ms: number): RequestId {
  let ms = Date.now() - ago_ms;
  let text = '';
  for (let i = 0; i < 10; i++) {
    text = (ALPHABET[ms % 32] as string) + text;
    ms = Math.floor(ms / 32);
  }
  for (let i = 0; i < 16; i++) text += ALPHABET[Math.floor(Math.random() * 32)];
  return text as RequestId;
}

async function write(tenant: Tenant, request_id: RequestId): Promise<RequestId> {
  log.write(rowOf(tenant, { request_id }));
  await log.flush();
  return request_id;
}

const follow = (tenant: Tenant, ended: AbortController) =>
  feed.follow({ org_id: tenant.org.id, environment: 'live' }, ended.signal);

test('each reader gets a row once, and none of earlier rows or of other organizations', async () => {
  await write(harness.a, begun(2_000));
  const ended = new AbortController();
  const readers = [await follow(harness.a, ended), await follow(harness.a, ended)];
  await write(harness.b, begun(0));
  const ids = [await write(harness.a, begun(30)), await write(harness.a, begun(10))];
  for (const reader of readers) {
    const reported = [await reader.next(), await reader.next()].map(({ value }) => value?.request_id);
    expect(reported.sort()).toEqual([...ids].sort());
  }
  ended.abort();
  for (const reader of readers) expect(await reader.next()).toEqual({ done: true, value: undefined });
});

test('readers get the row of a call that began minutes ago as soon as it is written', async () => {
  const ended = new AbortController();
  const reader = await follow(harness.a, ended);
  const id = await write(harness.a, begun(5 * 60_000));
  expect((await reader.next()).value?.request_id).toBe(id);
  ended.abort();
});

test('nothing is read when nobody watches any more, and the places are free again', async () => {
  const ended = new AbortController();
  const reader = await follow(harness.a, ended);
  const id = await write(harness.a, begun(0));
  expect((await reader.next()).value?.request_id).toBe(id);
  expect(feed.streams).toBe(1);
  ended.abort();
  expect(feed.streams).toBe(0);
  // A poll that was under way ends; after it there is none.
  await harness.pool.ping();
  const before = polls;
  await write(harness.a, begun(0));
  for (let i = 0; i < 20; i++) await harness.pool.ping();
  expect(polls - before).toBeLessThanOrEqual(1);
});

test('a fifty-first stream of an organization is refused; another organization has its own fifty', async () => {
  const ended = new AbortController();
  for (let i = 0; i < 50; i++) await follow(harness.a, ended);
  await expect(follow(harness.a, ended)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await follow(harness.b, ended);
  ended.abort();
  expect(feed.streams).toBe(0);
});
