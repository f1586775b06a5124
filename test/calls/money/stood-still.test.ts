// A gateway that is cut off from its database for longer than its lease, and goes on
// (docs/outcomes.md#gateway-stood-still): of two calls under one Idempotency-Key one answers.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { type IdempotencyClaim, openLedger, sweepOnce } from '@svc/core/ledger/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy } from '../../../core/ledger/testing/proxy.ts';
import { journalDirectory } from '../../../core/ledger/testing/testing.ts';
import { createTestDatabase } from '../../support/database.ts';
import { errorOf, svcOf } from '../caller.ts';
import {
  bodyOf,
  eventually,
  grammarFaults,
  idOf,
  type Org,
  openWorld,
  uuidOf,
  type World,
} from '../world.ts';

const LEASE_SECONDS = 2;
const paced = { stream: 'sim: tokens=20 chunks=10 chunk_ms=150', whole: 'sim: tokens=20 delay_ms=1500' };

let database_url: string;
let proxy: Awaited<ReturnType<typeof startProxy>>;
let world: World;
const pools: Pool[] = [];
const journal = journalDirectory();
beforeAll(async () => {
  database_url = await createTestDatabase();
  proxy = await startProxy(database_url);
  world = await openWorld({
    database_url: proxy.url,
    env: { SVC_LEDGER_LEASE_SECONDS: String(LEASE_SECONDS) },
  });
});
afterAll(async () => {
  proxy.thaw();
  await world?.close();
  await Promise.all(pools.map((pool) => pool.end()));
  proxy.close();
  journal.remove();
});

/** The ledger of `org` past the proxy, as other processes reach it. */
function ledgerOf(org: Org): string {
  const url = new URL(org.ledger_url);
  url.host = new URL(database_url).host;
  return url.href;
}

interface Held extends IdempotencyClaim {
  readonly request_id: string;
  readonly key_no: number;
  readonly project_no: number;
}

/** A call under `key` whose gateway is cut off, and whose hold is swept meanwhile. */
async function sweptCall(org: Org, key: string, stream: boolean) {
  const db = createPool(ledgerOf(org));
  pools.push(db);
  const { id, upstream } = world.model('chat');
  const body = bodyOf(id, stream ? paced.stream : paced.whole, { stream });
  const call = world.chat(org.live_key, body, { headers: { 'idempotency-key': key } });
  const held = await eventually('the call is held', async () => {
    const { rows } = await db.query<Held>({
      name: 'test.held',
      text: `select t.request_id, t.scope, t.key_hash, t.fingerprint, h.key_no, h.project_no
               from ledger.idempotency t join ledger.hold h on h.hold_id = t.request_id where h.book_id = $1`,
      values: [org.live_book_id],
    });
    return rows[0] ?? null;
  });
  if (stream) await call.until((seen) => seen.includes('lorem'));
  else
    await eventually('its provider was asked', () => world.sim.calls.some(({ model }) => model === upstream));
  proxy.freeze();
  await eventually('its hold is swept', async () => {
    await sweepOnce(db);
    const { rows } = await db.query({
      name: 'test.is_held',
      text: 'select 1 from ledger.hold where hold_id = $1',
      values: [held.request_id],
    });
    return rows.length === 0;
  });
  return { call, held };
}

/** Another call takes the key of `held`, in another process; returns what ends it. */
async function takeKey(
  org: Org,
  { key_no, project_no, scope, key_hash, fingerprint }: Held,
): Promise<() => Promise<void>> {
  const other = await openLedger({
    ...{ url: ledgerOf(org), process_name: 'other', journal_dir: journal.dir, log: silentLog },
  });
  const subject = { book_id: org.live_book_id, key_no, project_no };
  const idempotency = { scope, key_hash, fingerprint };
  const hold = { ...subject, request_id: newRequestId(), amount_micro_usd: 10 as never, idempotency };
  expect(await other.hold(hold)).toEqual({ status: 'ok' });
  return () => {
    other.release(subject, hold.request_id);
    return other.close();
  };
}

test.each([
  { form: 'a stream', stream: true },
  { form: 'a whole answer', stream: false },
])(
  '$form does not end as an answer where another call has its key, and costs nothing',
  async ({ form, stream }) => {
    const org = await world.org();
    const { call, held } = await sweptCall(org, `taken ${form}`, stream);
    const endOther = await takeKey(org, held);
    proxy.thaw();
    const reply = await call.reply;
    expect(reply.status).toBe(stream ? 200 : 409);
    expect(errorOf(reply)).toMatchObject({ code: 'idempotency_in_progress' });
    expect(svcOf(reply)?.['cost'].total_micro_usd ?? 0).toBe(0);
    if (!stream) expect(reply.headers).toMatchObject({ 'retry-after': '1', 'x-svc-cost-micro': '0' });
    await endOther();
    const ended = await world.ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: { cost: 0 } });
    expect(ended.row).toMatchObject({ status: 'error', error_code: 'idempotency_in_progress' });
  },
);

test('where nobody has taken the key, the answer ends with its cost once the database says so, and is charged once', async () => {
  const org = await world.org();
  const { call, held } = await sweptCall(org, 'free', true);
  proxy.thaw();
  const reply = await call.reply;
  expect(errorOf(reply)).toBeNull();
  expect(grammarFaults('chat', reply)).toEqual([]);
  const cost = svcOf(reply)?.['cost'].total_micro_usd as number;
  expect(cost).toBeGreaterThan(0);
  expect(uuidOf(idOf(reply))).toBe(held.request_id);
  expect(await world.ended(org, idOf(reply))).toMatchObject({ charged: cost });
});
