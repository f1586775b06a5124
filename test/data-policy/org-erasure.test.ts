// An organization that was erased is found nowhere but in what the law keeps; every table has a fate; and who may ask.

import { closeOrg, endCredit } from '@svc/core/closing/index.ts';
import { createPerson, verifyAudit, writeAudit } from '@svc/core/identity/index.ts';
import { microUsd, newRequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import {
  cancelOrgErasure,
  changed,
  changeErasureTerms,
  eraseOrgBatch,
  eraseRows,
  findErasure,
  kept,
  lookAtErasure,
  passing,
  receiptDigest,
  requestOrgErasure,
  steps,
} from '@svc/core/org-erasure/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from '../organizations/world.ts';
import { staffContext } from '../support/provision.ts';
import { tablesOfOrgs } from './tables.ts';

const world = await startWorld();
const { a, b, call, makePerson, makeTenant, pool } = world;
const staff = staffContext(pool);
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
type OrgId = `org_${string}`;
afterEach(() => shiftClock(0));

const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query<Row>({ name: '', text, values })).rows;
const look = (org_id: OrgId) => lookAtErasure(staff, { org_id });
const erasureOf = (org_id: string) => findErasure(pool, org_id);

/** Everything that every table holds, a row a line, after the name of its table. */
async function allRows(): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger')
        and has_table_privilege(c.oid, 'select')`,
  );
  const lines: string[] = [];
  for (const { name } of tables)
    for (const { line } of await rows<{ line: string }>(`select t::text as line from ${name} t`))
      lines.push(`${name} ${line}`);
  return lines;
}

/** Lets an erasure come to its end, as the workflow does. */
async function runOut(org_id: OrgId): Promise<void> {
  shiftClock(31 * DAY_MS);
  expect(await look(org_id)).toMatchObject({ status: 'closing' });
  shiftClock(31 * DAY_MS + 2 * HOUR_MS);
  await endCredit(staff, { org_id });
  expect(await look(org_id)).toMatchObject({ status: 'running' });
  for (let status = 'running'; status === 'running'; )
    status = (await eraseOrgBatch(staff, { org_id })).status;
}

test('every table that knows an organization has a fate, and what is erased can be', async () => {
  const names = await tablesOfOrgs(pool);
  const fates = new Set<string>([...steps, ...Object.keys(kept), ...Object.keys(passing)]);
  expect(names.filter((name) => !fates.has(name))).toEqual([]);
  expect(names.length).toBeGreaterThan(60);
  for (const { reason, term } of Object.values(kept)) expect(`${reason}${term}`.length).toBeGreaterThan(20);
  // No table has two fates.
  for (const name of Object.keys(kept)) expect(steps as readonly string[]).not.toContain(name);

  // The database erases from each, and from none of an organization that nobody asked to erase.
  const special = ['request_payload', 'request_row', 'org_member', ...Object.keys(changed)];
  const plain = steps.filter((name) => !special.includes(name));
  await expect(eraseRows(pool, { table: 'api_key', org_id: b.org.id, limit: 1 })).rejects.toThrow(
    'not being erased',
  );
  const { org } = await makeTenant('walked');
  await rows(
    `insert into org_erasure (org_id, status, refund_requested, requested_at, due_at, began_at)
     values ($1, 'running', false, now(), now(), now())`,
    [org.id],
  );
  for (const table of plain)
    await pool.transaction(async (db) => {
      await eraseRows(db, { table, org_id: org.id, limit: 0 });
    });
  await expect(eraseRows(pool, { table: 'invoice', org_id: org.id, limit: 1 })).rejects.toThrow(
    'not erased this way',
  );
});

test('asked for, reminded, taken back; a second time is refused, and once it has begun so is taking it back', async () => {
  const tenant = await makeTenant('undecided');
  const owner = await makePerson(tenant, 'owner');
  const path = `/v1/orgs/${tenant.org.id}/erasure`;
  const asked = await call('POST', path, { key: tenant.key, body: {} });
  expect([asked.statusCode, asked.json().status]).toEqual([200, 'active']);
  const due = Date.parse(asked.json().erasure_due_at) - Date.parse(asked.json().erasure_requested_at);
  expect(due).toBe(30 * DAY_MS);
  const again = await call('POST', path, { key: tenant.key, body: {} });
  expect([again.statusCode, again.json().error.code]).toEqual([409, 'erasure_pending']);
  const stranger = await call('DELETE', path, { key: a.key });
  expect(stranger.statusCode).toBe(404);
  const mails = () => world.mailsTo('org_erasure', owner.email);
  expect(await mails()).toBe(1);
  const id = tenant.org.id;
  expect((await look(id)).wait_ms).toBeGreaterThan(22 * DAY_MS);
  shiftClock(23.5 * DAY_MS);
  await look(id);
  await look(id);
  expect(await mails()).toBe(2);
  shiftClock(29 * DAY_MS);
  await Promise.all([look(id), look(id)]);
  expect(await mails()).toBe(3);
  shiftClock(0);
  const back = await call('DELETE', path, { key: tenant.key });
  expect([back.statusCode, back.json().erasure_due_at]).toEqual([200, undefined]);
  expect((await call('DELETE', path, { key: tenant.key })).json().error.code).toBe('state_conflict');
  expect(await look(id)).toMatchObject({ status: 'cancelled' });
  expect((await call('POST', path, { key: tenant.key, body: {} })).statusCode).toBe(200);
  shiftClock(30 * DAY_MS + 1_000);
  expect(await look(id)).toMatchObject({ status: 'closing' });
  expect((await call('DELETE', path, { key: tenant.key })).statusCode).toBeGreaterThanOrEqual(400);
  expect(await erasureOf(id)).toMatchObject({ status: 'closing', step: 0 });
  // What is being erased is not opened again.
  await expect(changeTerms(staff, id, { status: 'active' })).rejects.toMatchObject({
    code: 'state_conflict',
  });
});

test('the notice is 7 to 90 days, is written to the audit log, and holds for what is asked for later', async () => {
  for (const notice_days of [6, 91, 30.5, -1])
    await expect(changeErasureTerms(staff, { notice_days })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  const tenant = await makeTenant('announced');
  const dueIn = async (notice_days: number) => {
    await changeErasureTerms(staff, { notice_days });
    const asked = await call('POST', `/v1/orgs/${tenant.org.id}/erasure`, { key: tenant.key, body: {} });
    const { erasure_requested_at, erasure_due_at } = asked.json();
    // Changed meanwhile, it keeps its time.
    await changeErasureTerms(staff, { notice_days: 30 });
    const { due_at } = (await erasureOf(tenant.org.id)) as { due_at: Date };
    expect(due_at.toISOString()).toBe(erasure_due_at);
    await call('DELETE', `/v1/orgs/${tenant.org.id}/erasure`, { key: tenant.key });
    return (Date.parse(erasure_due_at) - Date.parse(erasure_requested_at)) / DAY_MS;
  };
  expect([await dueIn(7), await dueIn(90)]).toEqual([7, 90]);
  const acts = await rows<{ before: object; after: object }>(
    `select before, after from audit_entry where action = 'staff.orgs.erasures.terms.set' order by id`,
  );
  expect(acts.slice(0, 2)).toEqual([
    { before: { notice_days: 30 }, after: { notice_days: 7 } },
    { before: { notice_days: 7 }, after: { notice_days: 30 } },
  ]);
});

test('of a beginning, a taking back and a closing at once none is half done, and they never wait for each other', async () => {
  const deadlocks = async () =>
    (
      await rows<{ n: number }>(
        'select deadlocks::int as n from pg_stat_database where datname = current_database()',
      )
    )[0]?.n;
  const before = await deadlocks();
  for (let n = 0; n < 12; n++) {
    const { org } = await makeTenant(`contested-${n}`);
    const { id: org_id } = org;
    await requestOrgErasure(staff, { org_id, refund_requested: false, action: 'staff.orgs.erasure.request' });
    await rows(`update org_erasure set due_at = now() - interval '1 second' where org_id = $1`, [org_id]);
    const closing = n % 2 === 0;
    const [, back] = await Promise.allSettled([
      look(org_id),
      cancelOrgErasure(staff, { org_id, action: 'staff.orgs.erasure.cancel' }),
      look(org_id),
      ...(closing
        ? [closeOrg(staff, { org_id, confirm: null, refund_requested: false, action: 'staff.orgs.close' })]
        : []),
    ]);
    const { status } = (await erasureOf(org_id)) as { status: string };
    const found = await rows<{ status: string; due: Date | null }>(
      'select status, erasure_due_at as due from org where id = $1',
      [org_id],
    );
    expect(['cancelled', 'closing']).toContain(status);
    expect(back.status).toBe(status === 'cancelled' ? 'fulfilled' : 'rejected');
    const stays = status === 'cancelled' && !closing;
    expect(found).toMatchObject([{ status: stays ? 'active' : 'closed' }]);
    expect(found[0]?.due === null).toBe(status === 'cancelled');
  }
  expect(await deadlocks()).toBe(before);
});

test('after it nothing is found but what the law keeps, and the receipt recomputes; others are as they were', async () => {
  const tenant = await makeTenant('planted-slug');
  const { org } = tenant;
  const owner = await makePerson(tenant, 'owner');
  const both = await createPerson(staff, {
    email: 'planted-both@mail.example',
    org_id: org.id,
    role: 'admin',
  });
  await rows(
    `insert into org_member (org_id, user_id, role, status, source, joined_at, updated_at)
     select $1, user_id, role, status, source, joined_at, updated_at from org_member where user_id = $2`,
    [b.org.id, both.id],
  );
  const auth = { key: tenant.key };
  const made = [
    await call('PATCH', `/v1/orgs/${org.id}`, {
      ...auth,
      body: { name: 'Planted Name', billing_email: 'planted@bill.example' },
    }),
    await call('POST', '/v1/tickets', {
      ...auth,
      body: { subject: 'planted subject', body: 'planted text' },
    }),
    await call('POST', '/v1/webhooks', {
      ...auth,
      body: { url: 'https://planted.example/hook', events: ['key.created'] },
    }),
    await call('POST', `/v1/orgs/${org.id}/invitations`, {
      key: await world.signIn(owner),
      body: { email: 'planted-guest@mail.example', role: 'viewer' },
    }),
    await call('POST', '/v1/privacy/erasure', { ...auth, body: { user_id: 'planted-user' } }),
    await call('POST', '/v1/projects', { ...auth, body: { slug: 'planted-project', name: 'Planted' } }),
  ];
  expect(made.filter(({ statusCode }) => statusCode >= 400).map(({ body }) => body)).toEqual([]);
  await credit(pool, {
    ...{ book_id: org.live_book_id, kind: 'grant', granted: true, expires_at: null },
    ...{ amount_micro_usd: microUsd(5_000_000), ref_type: 'staff', ref_id: newRequestId() },
  });
  // What the installation's own log says of a person of it.
  const target = { type: 'user', id: owner.id, display: owner.email };
  await writeAudit(staff, {
    action: 'auth.password.reset',
    org_id: null,
    target,
    reason: `by ${owner.email}`,
  });
  const planted = (await allRows()).filter((line) => /planted/i.test(line));
  const before = new Set(planted.map((line) => line.split(' ')[0]));
  for (const table of ['org', 'person', 'ticket', 'webhook', 'invitation', 'project', 'mail', 'audit_entry'])
    expect(before).toContain(`public.${table}`);
  const others = (await allRows()).filter((line) => line.includes(b.org.id) && !line.includes(org.id));

  expect((await call('POST', `/v1/orgs/${org.id}/erasure`, { ...auth, body: {} })).statusCode).toBe(200);
  await runOut(org.id);
  const after = await allRows();
  expect(after.filter((line) => /planted/i.test(line) && !line.includes('planted-both'))).toEqual([]);
  expect(after.filter((line) => line.includes(owner.email))).toEqual([]);
  // Other logs keep an id that leads to nobody, and their chains are whole.
  const ofPeople = after.filter((line) => line.includes(owner.id));
  expect(ofPeople.filter((line) => !line.startsWith('public.audit_entry '))).toEqual([]);
  expect(await verifyAudit(pool)).toMatchObject({ faults: [], redacted: expect.toSatisfy((n) => n > 0) });
  const found = new Set(after.filter((line) => line.includes(org.id)).map((line) => line.split(' ')[0]));
  const allowed = [
    ...Object.keys(kept).map((name) => (name === 'book' ? 'ledger.book' : `public.${name}`)),
    'public.org',
    // Entries stay with their book; some refer to the organization by id.
    'ledger.entry',
  ];
  const ownOnly = [
    'public.workflow_start',
    'public.workflow_signal',
    'public.audit_entry',
    'public.ledger_task',
  ];
  const passed = Object.keys(passing).map((name) => (name.includes('.') ? name : `public.${name}`));
  expect([...found].filter((name) => ![...allowed, ...ownOnly, ...passed].includes(name as string))).toEqual(
    [],
  );
  // Whoever is in another organization too stays there.
  expect(await rows('select org_id from org_member where user_id = $1', [both.id])).toEqual([
    { org_id: b.org.id },
  ]);
  const same = (await allRows()).filter((line) => line.includes(b.org.id) && !line.includes(org.id));
  expect(same.length).toBe(others.length);

  const receipt = await erasureOf(org.id);
  if (receipt?.kept == null) throw new Error('no receipt');
  expect(receipt).toMatchObject({ status: 'completed', step: steps.length });
  expect(receipt.erased['api_key']).toBeGreaterThan(0);
  expect(receipt.kept['book']).toBe(2);
  expect(receiptDigest({ org_id: org.id, erased: receipt.erased, kept: receipt.kept })).toBe(receipt.digest);
  // Once more it does nothing, and nobody can ask again.
  expect(await eraseOrgBatch(staff, { org_id: org.id })).toMatchObject({ status: 'completed' });
  expect(await erasureOf(org.id)).toEqual(receipt);
});
