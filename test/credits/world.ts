// Organizations with a ledger that tests write to directly, and the management API over it.
import type { RequestRow } from '@svc/core/analytics/index.ts';
import {
  type Context,
  type Id,
  microUsd,
  newRequestId,
  type RequestId,
  shiftClock,
} from '@svc/core/kernel/index.ts';
import { credit, type LedgerHandle, verifyLedger } from '@svc/core/ledger/index.ts';
import { holdOf, journalDirectory, openTestLedger, settleOf } from '@svc/core/ledger/testing/testing.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { afterEach, expect } from 'vitest';
import { type Harness, startHarness, type Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { atFileEnd } from '../support/ends.ts';

export interface World {
  readonly harness: Harness;
  readonly ledger: LedgerHandle;
  /** A context of nobody, as jobs have it. */
  readonly context: Context;
  /** Credit out of nothing, as staff grant it; `expires_at` null: never. */
  grant(tenant: Tenant, micro: number, expires_at?: string | null): Promise<void>;
  paid(tenant: Tenant, micro: number): Promise<Id<'lot'>>;
  /** A call that begins now and holds `micro`: `settle` charges it and writes its row. */
  begin(tenant: Tenant, micro: number): Promise<Call>;
  /** A call from beginning to end. */
  call(tenant: Tenant, micro: number): Promise<void>;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
  get<T>(path: string, key: string): Promise<T>;
  expectRight(): Promise<void>;
}

interface Call {
  readonly request_id: RequestId;
  /**
   * `cost_micro`: what it costs; its hold unless given. `row_micro`: what its row says; the same unless given. `row`: what
   * else its row says.
   */
  settle(end?: { cost_micro?: number; row_micro?: number; row?: Partial<RequestRow> }): Promise<void>;
}

/** The answer to a request that is sent again while the service says that it cannot be done now, as clients do. */
export async function persistently<T extends { readonly statusCode: number }>(
  send: () => Promise<T>,
): Promise<T> {
  for (;;) {
    const answer = await send();
    if (answer.statusCode !== 503) return answer;
  }
}

/** Sets the product's clock to `time`; the machine's comes back after the test. */
export function clockAt(time: string): void {
  shiftClock(Date.parse(time) - Date.now());
}

/** Starts everything on a database of its own; it ends after the file. */
export async function startWorld(): Promise<World> {
  const harness = await startHarness();
  const { dir, remove } = journalDirectory();
  const ledger = await openTestLedger(harness.url, dir);
  afterEach(() => shiftClock(0));
  atFileEnd(async () => {
    await ledger.close();
    remove();
  });
  const { pool } = harness;
  const context = createContext({
    request_id: newRequestId(),
    caller: { kind: 'public' },
    pool,
    log: harness.context.log,
    services: { root_key: harness.root_key } as never,
  });
  const add = async (tenant: Tenant, micro: number, granted: boolean, expires_at: string | null) => {
    const kind = granted ? 'grant' : 'topup';
    const made = await credit(pool, {
      ...{ book_id: tenant.org.live_book_id, kind, granted, amount_micro_usd: microUsd(micro) },
      expires_at: expires_at === null ? null : new Date(expires_at),
      ...{ ref_type: granted ? 'staff' : 'topup', ref_id: newRequestId() },
    });
    return made.lot_id;
  };
  const numbers = async (tenant: Tenant) => {
    const found = await pool.query<{ key_no: number }>({
      name: '',
      text: 'select key_no from api_key where id = $1',
      values: [tenant.key_id],
    });
    const key_no = found.rows[0]?.key_no as number;
    return { book_id: tenant.org.live_book_id, key_no, project_no: tenant.live.live_no };
  };
  const begin: World['begin'] = async (tenant, micro) => {
    const subject = await numbers(tenant);
    const request_id = newRequestId();
    expect(await ledger.hold(holdOf(subject, micro, request_id))).toMatchObject({ status: 'ok' });
    return {
      request_id,
      async settle({ cost_micro = micro, row_micro = cost_micro, row = {} } = {}) {
        await ledger.settle(settleOf(subject, request_id, cost_micro));
        harness.request_log.write(rowOf(tenant, { ...row, request_id, cost_micro: row_micro }));
        await harness.request_log.flush();
      },
    };
  };
  return {
    ...{ harness, ledger, context, begin },
    grant: async (tenant, micro, expires_at = null) => void (await add(tenant, micro, true, expires_at)),
    paid: (tenant, micro) => add(tenant, micro, false, null),
    async call(tenant, micro) {
      await (await begin(tenant, micro)).settle();
    },
    rows: async <T>(text: string, values: unknown[] = []) =>
      (await pool.query<T>({ name: '', text, values })).rows,
    async get<T>(path: string, key: string) {
      const reply = await harness.call('GET', path, { key });
      expect(reply.statusCode, reply.body).toBe(200);
      return reply.json() as T;
    },
    async expectRight() {
      expect((await verifyLedger({ url: harness.url })).findings).toEqual([]);
    },
  };
}
