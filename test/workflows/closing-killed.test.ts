// The worker program killed (`kill -9`) at every step of closings, each of another organization, and another one started: each
// step takes effect once, and every closing comes to its end. A payment that comes after the end goes back too.
import { closeOrg } from '@svc/core/closing/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { microUsd, newRequestId } from '@svc/core/kernel/index.ts';
import { credit, readBalance } from '@svc/core/ledger/index.ts';
import { createMandate, findMandate, pollMandate } from '@svc/core/mandates/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { staffContext } from '../support/provision.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { openStops } from './stops.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from './world.ts';

vi.setConfig({ testTimeout: 240_000 });
const world = await startWorkflowWorld();
const { sim, context } = world;
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const client = await connect(temporal);
const stops = await openStops(world.url);
let worker: WorkerProcess;
let serial = 0;
const start = () => world.worker(temporal.address, { SVC_DATABASE_CONNECTIONS: '30' });

beforeAll(async () => {
  worker = await start();
});

const newOrg = () => world.org(`org-${++serial}`);
const count = async (from: string, values: unknown[]) =>
  (await world.rows<{ n: number }>(`select count(*)::int as n from ${from}`, values))[0]?.n;

async function pay(org: Org, topup?: Topup): Promise<Topup> {
  const made = topup ?? (await world.topup(org));
  await world.deliver(events.completed(made, { payment: world.pay(made) }));
  return world.read(made.id);
}
const close = ({ id: org_id }: Org) =>
  closeOrg(context, { org_id, confirm: null, refund_requested: true, action: 'staff.orgs.close' });

async function ended({ id }: Org): Promise<void> {
  const handle = client.workflow.getHandle(`close-${id}`);
  const is_over = () =>
    handle.describe().then(
      ({ status }) => status.name === 'COMPLETED',
      () => false,
    );
  await until(`close-${id} ended`, is_over, 150_000);
  expect(await count('org_closing where org_id = $1 and ended_at is not null', [id])).toBe(1);
}

/** Every refund of the organization went back at the rail, once. */
async function expectRefunded({ id }: Org, times: number): Promise<void> {
  const refunds = await world.rows<{ id: string; status: string }>(
    'select id, status from refund where org_id = $1',
    [id],
  );
  expect(refunds.map(({ status }) => status)).toEqual(Array.from({ length: times }, () => 'refunded'));
  for (const refund of refunds)
    expect(
      [...sim.store.refunds.values()].filter(({ metadata }) => metadata['refund_id'] === refund.id),
    ).toHaveLength(1);
}

async function sessionIn(org: Org): Promise<void> {
  const person = { email: `owner@${org.slug}.example`, org_id: org.id, role: 'owner' } as const;
  const { id } = await createPerson(staffContext(world.pool), person);
  await world.rows(
    `insert into session (id, hash, user_id, org_id, method, transport, two_factor, proved_at, created_at, last_seen_at,
                          idle_seconds, expires_at)
     select 'ses_' || substr($1, 5), sha256($1::bytea), $1, $2, 'password', 'cookie', false, t, t, t, 86400,
            t + interval '1 day'
       from (select now() - interval '1 hour' as t) as began`,
    [id, org.id],
  );
}

test('killed at every step: each closing comes to its end, and nothing is done twice', async () => {
  await stops.set({
    'a mandate': { table: 'mandate', event: 'update', when: `new.status = 'cancelled'` },
    'the sessions': { table: 'session', event: 'delete', when: 'true' },
    'a refund': { table: 'refund', event: 'insert', when: 'true' },
    'given credit': { table: 'ledger.entry', event: 'insert', when: 'new.kind = 16' },
    'a ticket': { table: 'ticket', event: 'insert', when: 'true' },
    'its end': { table: 'org_closing', event: 'update', when: 'new.ended_at is not null' },
  });
  process.kill(worker.pid, 'SIGSTOP');
  const [registered, entered, paying, given, late, empty] = [
    await newOrg(),
    await newOrg(),
    await newOrg(),
    await newOrg(),
    await newOrg(),
    await newOrg(),
  ];
  const { mandate } = await createMandate(context, { org_id: registered.id, method: 'card' });
  sim.store.mandates.save(mandate.setup_ref as string);
  await pollMandate(context, { mandate_id: mandate.id });
  await sessionIn(entered);
  await pay(paying);
  await credit(world.pool, {
    ...{ book_id: given.live_book_id, kind: 'grant', granted: true, expires_at: null },
    ...{ amount_micro_usd: microUsd(5_000_000), ref_type: 'staff', ref_id: newRequestId() },
  });
  const old = await pay(late);
  await world.rows(`update topup set paid_at = paid_at - interval '181 days' where id = $1`, [old.id]);
  const all = [registered, entered, paying, given, late, empty];
  for (const org of all) await close(org);
  process.kill(worker.pid, 'SIGCONT');
  await stops.reached();
  await worker.kill();
  await stops.cut();
  worker = await start();

  for (const org of all) await ended(org);
  expect(await findMandate(world.pool, { id: mandate.id, org_id: null })).toMatchObject({
    ...{ status: 'cancelled', reason: 'org_closed' },
  });
  expect(await count('session where org_id = $1', [entered.id])).toBe(0);
  await expectRefunded(paying, 1);
  const expiries = 'ledger.entry where book_id = $1 and kind = 16';
  expect(await count(expiries, [given.live_book_id])).toBe(1);
  expect(await readBalance(world.pool, given.live_book_id)).toMatchObject({ available_micro_usd: 0 });
  expect(await count(`ticket where org_id = $1 and kind = 'refund'`, [late.id])).toBe(1);
  await world.expectRight();

  // After the end of the workflow, and after a day in which nobody was there.
  const org = await newOrg();
  const topup = await world.topup(org);
  await close(org);
  await ended(org);
  await worker.kill();
  await pay(org, topup);
  expect(await count('org_closing where org_id = $1 and ended_at is not null', [org.id])).toBe(1);
  worker = await start();
  await until(
    'it went back',
    async () => (await count(`refund where org_id = $1 and status = 'refunded'`, [org.id])) === 1,
    150_000,
  );
  await ended(org);
  await expectRefunded(org, 1);
  await world.expectRight();
  expect(await worker.stop()).toBe(0);
});
