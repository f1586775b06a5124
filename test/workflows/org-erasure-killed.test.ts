// The worker program killed (`kill -9`) at every step of erasures of organizations, each of another one, and another worker started;
// Temporal and the database away. Every row is counted once, and every erasure comes to its end.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPerson } from '@svc/core/identity/index.ts';
import { newRequestId, ulidMs } from '@svc/core/kernel/index.ts';
import { findErasure, receiptDigest, requestOrgErasure, steps } from '@svc/core/org-erasure/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { readWorkflowHealth } from '@svc/core/workflow-starts/index.ts';
import type { Client } from '@temporalio/client';
import { expect, test, vi } from 'vitest';
import { rowOf } from '../registry/rows.ts';
import { atFileEnd } from '../support/ends.ts';
import { staffContext } from '../support/provision.ts';
import { startTemporal } from '../support/temporal.ts';
import { openStops, type Stop } from './stops.ts';
import { openWire } from './wire.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from './world.ts';

vi.setConfig({ testTimeout: 300_000 });
const world = await startWorkflowWorld();
const stops = await openStops(world.url);
let serial = 0;

const read = async ({ id }: Pick<Org, 'id'>) => {
  const found = await findErasure(world.pool, id);
  if (found === null) throw new Error('no erasure');
  return found;
};
const ask = ({ id: org_id }: Org) =>
  requestOrgErasure(world.context, {
    ...{ org_id, refund_requested: false, action: 'staff.orgs.erasure.request' },
  });
const ownerOf = ({ slug }: Org) => `owner@${slug}.example`;

/** Notices of credit, of which an organization may have as many as one likes: a step of several batches. */
const noted = ({ id }: Org, days: number) =>
  world.rows(
    `insert into credit_notice (org_id, day, days, created_at)
     select $1, current_date + n, 7, now() from generate_series(1, $2::int) n`,
    [id, days],
  );

/** Two calls of a key and what they sum up to. */
async function called(org: Org): Promise<void> {
  const tenant = { org, live: { id: 'prj_x' }, key_id: 'key_x' } as unknown as Parameters<typeof rowOf>[0];
  const rows = [newRequestId(), newRequestId()].map((request_id) => {
    const { attempt_rows: _, ...row } = rowOf(tenant, { request_id });
    return { ...row, replays: 0, ts: new Date(ulidMs(request_id)).toISOString() };
  });
  await world.rows(
    `insert into request_row select r.* from jsonb_array_elements($1::jsonb) j, jsonb_populate_record(null::request_row, j) r`,
    [JSON.stringify(rows)],
  );
  for (const days of [1, 2])
    await world.rows(
      `insert into usage_hour (org_id, environment, hour, project_id, key_id, model, provider, byok, app_id, requests, ok, errors,
                               input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro)
       values ($1, 'live', date_trunc('day', now()) - $2 * interval '1 day', 'prj_x', 'key_x', 'm', 'p', false, '', 2, 2, 0,
               1, 1, 0, 0, 0, 5)`,
      [org.id, days],
    );
}

/** An organization with a person who is in no other, and rows of every kind of step. */
async function newOrg(notices = 3): Promise<Org> {
  const org = await world.org(`erased-org-${++serial}`);
  await createPerson(staffContext(world.pool), { email: ownerOf(org), org_id: org.id, role: 'owner' });
  await noted(org, notices);
  await called(org);
  return org;
}

/** As after the closing: what was begun more than three days ago waits for nothing. */
async function hurry({ id }: Org): Promise<void> {
  await world.rows(`update org set status = 'closed', closed_at = now() - interval '4 days' where id = $1`, [
    id,
  ]);
  await world.rows(
    `update org_erasure set status = 'closing', due_at = now() - interval '4 days', began_at = now() - interval '4 days'
      where org_id = $1`,
    [id],
  );
}

/** Has a workflow look again, as when the clock of the installation is moved. */
const wake = ({ id }: Org) =>
  world.rows(
    `insert into workflow_signal (workflow_id, name, args, created_at) values ($1, 'asked', '{}', now())`,
    [`orgerase-${id}`],
  );

async function ended(client: Client, org: Org): Promise<void> {
  await until(`${org.slug} erased`, async () => (await read(org)).status === 'completed', 200_000);
  const handle = client.workflow.getHandle(`orgerase-${org.id}`);
  await until('ended', async () => (await handle.describe()).status.name === 'COMPLETED', 60_000);
  const { erased, kept, digest } = await read(org);
  expect(receiptDigest({ org_id: org.id, erased, kept: kept ?? {} })).toBe(digest);
  const history = JSON.stringify(await handle.fetchHistory(), (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(history).toContain(org.id);
  for (const word of [org.slug, org.name, ownerOf(org)]) expect(history).not.toContain(word);
}

test('killed at every step: each erasure comes to its end, and no row is counted twice', async () => {
  const temporal = await startTemporal();
  atFileEnd(() => temporal.stop());
  const client = await connect(temporal);
  const start = () => world.worker(temporal.address, { SVC_DATABASE_CONNECTIONS: '120' });
  let worker = await start();
  process.kill(worker.pid, 'SIGSTOP');

  const [untouched, reminded, closed, begun, many, last] = [
    await newOrg(),
    await newOrg(),
    await newOrg(),
    await newOrg(),
    await newOrg(2_500),
    await newOrg(),
  ];
  const at = (table: string, event: Stop['event'], when: string): Stop => ({ table, event, when });
  const own = (org: Org) => `new.org_id = '${org.id}'`;
  const wanted: Record<string, Stop> = {
    'a reminder': at('mail', 'insert', `${own(reminded)} and new.reference like '%-168h%'`),
    'the closing': at('org', 'update', `new.id = '${closed.id}' and new.status = 'closed'`),
    'the beginning': at(
      'org_erasure',
      'update',
      `${own(begun)} and new.status = 'running' and old.status = 'closing'`,
    ),
    'the second batch': at(
      'org_erasure',
      'update',
      `${own(many)} and (new.erased ->> 'credit_notice')::int = 2000`,
    ),
    'the receipt': at('org_erasure', 'update', `${own(last)} and new.status = 'completed'`),
  };
  const stepped: Org[] = [];
  for (const [no, step] of steps.entries()) {
    const org = await newOrg();
    stepped.push(org);
    wanted[`${step}, ${no}`] = at('org_erasure', 'update', `${own(org)} and new.step = ${no + 1}`);
  }
  await stops.set(wanted);
  const all = [untouched, reminded, closed, begun, many, last, ...stepped];
  for (const org of all) await ask(org);
  await world.rows(
    `update org_erasure set requested_at = now() - interval '25 days', due_at = now() + interval '5 days' where org_id = $1`,
    [reminded.id],
  );
  await world.rows(`update org_erasure set due_at = now() - interval '1 minute' where org_id = $1`, [
    closed.id,
  ]);
  for (const org of [untouched, begun, many, last, ...stepped]) await hurry(org);
  process.kill(worker.pid, 'SIGCONT');
  await stops.reached();
  await ended(client, untouched);
  await worker.kill();
  await stops.cut();
  expect((await read(many)).erased['credit_notice']).toBe(1_000);
  expect((await read(closed)).status).toBe('asked');
  for (const [no, org] of stepped.entries()) expect((await read(org)).step).toBe(no);

  worker = await start();
  const mails = () =>
    world.rows<{ n: number }>(
      `select count(*)::int as n from mail where org_id = $1 and template = 'org_erasure'`,
      [reminded.id],
    );
  await until('reminded', async () => (await mails())[0]?.n === 2, 120_000);
  await until('closed', async () => (await read(closed)).status === 'closing', 120_000);
  for (const org of [reminded, closed]) {
    await hurry(org);
    await wake(org);
  }
  // Its calls are one app's of one day, and of two hours with six sums each by one thing; whether that day and those hours were
  // summed by then is a matter of when the jobs ran.
  const counted = async (org: Org) => {
    const { app_day = 0, usage_value = 0, ...others } = (await read(org)).erased;
    const { usage_unsummed = 0, usage_unspanned = 0, ...rows } = others;
    expect([org.slug, app_day <= 1, [0, 6, 12].includes(usage_value)]).toEqual([org.slug, true, true]);
    expect([usage_unsummed <= 2, usage_unspanned <= 8]).toEqual([true, true]);
    return rows;
  };
  const usual = await counted(untouched);
  expect(usual).toMatchObject({ credit_notice: 3, request_row: 2, usage_hour: 2, org_member: 1, org: 1 });
  for (const org of all) {
    await ended(client, org);
    if (![reminded, closed, many].includes(org))
      expect([org.slug, await counted(org)]).toEqual([org.slug, usual]);
  }
  expect((await read(many)).erased['credit_notice']).toBe(2_500);
  expect(await world.rows('select 1 from credit_notice')).toEqual([]);
  const ids = all.map(({ id }) => id);
  for (const table of ['usage_hour', 'usage_value', 'usage_unsummed', 'usage_span', 'usage_unspanned'])
    expect(await world.rows(`select 1 from ${table} where org_id = any ($1)`, [ids])).toEqual([]);
  expect(await world.rows(`select 1 from person where email like '%erased-org-%'`)).toEqual([]);
  await world.expectRight();
  expect(await worker.stop()).toBe(0);
});

test('asked for while Temporal is away, and cut off from the database in the middle, it is done later and once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-outage-'));
  const temporal = await startTemporal({ db_file: join(dir, 'temporal.db') });
  atFileEnd(async () => {
    await temporal.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const client = await connect(temporal);
  const wire = await openWire(world.url);
  const worker: WorkerProcess = await world.worker(temporal.address, { SVC_DATABASE_URL: wire.url });
  const trouble = async () => (await readWorkflowHealth(world.pool)).trouble;
  await until('healthy', async () => (await trouble()) === null);
  await temporal.kill();
  await until('degraded', async () => (await trouble()) !== null, 60_000);
  const org = await newOrg(2_500);
  expect((await ask(org)).status).toBe('asked');
  await temporal.restart();
  const handle = client.workflow.getHandle(`orgerase-${org.id}`);
  const status = () =>
    handle.describe().then(
      (run) => run.status.name,
      () => 'none',
    );
  await until('it runs', async () => (await status()) === 'RUNNING', 120_000);

  await stops.set({
    'the second batch': {
      ...{ table: 'org_erasure', event: 'update' },
      when: `new.org_id = '${org.id}' and (new.erased ->> 'credit_notice')::int = 2000`,
    },
  });
  await hurry(org);
  await wake(org);
  await stops.reached();
  wire.cut();
  await stops.cut();
  expect(await read(org)).toMatchObject({ status: 'running', erased: { credit_notice: 1_000 } });
  await until('it was noticed', () => worker.output().includes('"activity":"eraseOrg"'), 60_000);
  wire.mend();
  await ended(client, org);
  expect((await read(org)).erased['credit_notice']).toBe(2_500);
  expect(await worker.stop()).toBe(0);
});
