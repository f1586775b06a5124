// An organization with credit, over REST and the real ledger, for tests of budgets.
import { type Id, microUsd, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { orderCredit } from '@svc/core/ledger/index.ts';
import { holdOf, journalDirectory, openTestLedger, settleOf } from '@svc/core/ledger/testing/testing.ts';
import { relayParts } from '@svc/core/operations/index.ts';
import { relayOutbox } from '@svc/core/webhooks/index.ts';
import { expect } from 'vitest';
import { type Harness, startHarness, type Tenant } from '../registry/harness.ts';
import { atFileEnd } from '../support/ends.ts';

export interface Mailed {
  readonly template: string;
  readonly recipient: string;
  readonly data: Record<string, unknown>;
}

export interface BudgetWorld {
  readonly harness: Harness;
  tenant(slug: string, credit_micro?: number): Promise<Tenant>;
  /** A request with the tenant's key; its answer, which is a success. */
  send<T>(
    tenant: Tenant,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<T>;
  /** A call of `key_id` in the tenant's live project that costs `micro`; how its hold ended. */
  call(tenant: Tenant, micro: number, key_id?: string): Promise<string>;
  /** Relays what waits in the outboxes; then the mails of an organization, in the order in which they were asked for. */
  mails(tenant: Tenant): Promise<Mailed[]>;
  relay(): Promise<number>;
}

/** Starts everything; it ends after the file. */
export async function startBudgetWorld(): Promise<BudgetWorld> {
  const harness = await startHarness();
  const { pool, url, context } = harness;
  const { dir, remove } = journalDirectory();
  const ledger = await openTestLedger(url, dir);
  atFileEnd(async () => {
    await ledger.close();
    remove();
  });
  const relay = () => relayOutbox(pool, relayParts(silentLog));
  return {
    harness,
    relay,
    async tenant(slug, credit_micro = 100_000_000) {
      const tenant = await harness.makeTenant(slug);
      const { org } = tenant;
      const terms = { kind: 'grant', granted: false, expires_at: null, ref_type: 'staff' } as const;
      await context.transaction((context) =>
        orderCredit(context, org.shard, {
          ...{ ...terms, book_id: org.live_book_id, ref_id: slug },
          amount_micro_usd: microUsd(credit_micro),
        }),
      );
      return tenant;
    },
    async send(tenant, method, path, body) {
      const answer = await harness.call(method, path, {
        key: tenant.key,
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.statusCode, answer.body).toBeLessThan(300);
      return (answer.body === '' ? undefined : answer.json()) as never;
    },
    async call({ org, live, key_id: own }, micro, key_id = own) {
      const { rows } = await pool.query<{ chain_no: number }>({
        name: '',
        text: 'select chain_no from api_key where id = $1',
        values: [key_id],
      });
      const subject = { book_id: org.live_book_id, key_no: rows[0]?.chain_no ?? 0, project_no: live.live_no };
      const request_id = newRequestId();
      const { status } = await ledger.hold(holdOf(subject, micro, request_id));
      if (status === 'ok') await ledger.settle(settleOf(subject, request_id, micro));
      return status;
    },
    async mails({ org }) {
      await relay();
      const text = 'select template, recipient, data from mail where org_id = $1 order by id';
      return (await pool.query<Mailed>({ name: '', text, values: [org.id as Id<'org'>] })).rows;
    },
  };
}
