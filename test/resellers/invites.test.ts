// Invite codes of resellers (docs/resellers/customers.md#invite-codes): who makes an organization with one becomes a customer.

import { signInSettings } from '@svc/core/identity/index.ts';
import { readConfig } from '@svc/core/kernel/index.ts';
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { startWorld } from '../organizations/world.ts';
import { codeOf, type Method } from '../registry/harness.ts';

const PASSWORD = 'seven quiet rivers';

describe.each(['invite', 'open'] as const)('while sign-up is %s', async (mode) => {
  const sign_in = signInSettings(readConfig({ SVC_SIGNUP: mode }), 'http://127.0.0.1:8080');
  const world = await startWorld({ services: { sign_in } });
  const { a, b, call, context, linkOf, makePerson, pool, signIn } = world;
  const kind = { id: a.org.id, kind: 'reseller', reason: 'a contract' } as const;
  await setOrgKindOperation.run(context, kind);
  const owner = await signIn(await makePerson(a, 'owner'));
  let serial = 0;
  const ask = (method: Method, path: string, body?: object, key = owner) =>
    call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
    (await pool.query<Row>({ name: `test.${text.length}`, text, values })).rows;
  const make = async (more: object = {}) => {
    const made = await ask('POST', '/v1/reseller/invites', { note: 'a fair', ...more });
    expect([made.statusCode, made.body]).toEqual([201, made.body]);
    return made.json() as { id: string; code: string; hint: string };
  };
  const found = (key: string, more: object = {}) =>
    call('POST', '/v1/orgs', {
      ...{ key, ip: `198.51.100.${++serial % 250}` },
      body: { name: 'New', slug: `new-${mode}-${serial}`, billing_country: 'IN', ...more },
    });
  const parentOf = async (id: string) =>
    (await rows<object>('select kind, parent_org_id, reseller_tier_id from org where id = $1', [id]))[0];
  /** Registers with `code` and proves the address; returns the person's session. */
  const join = async (code: string) => {
    const email = `person-${mode}-${++serial}@invited.example`;
    const body = { email, password: PASSWORD, name: 'Ravi', accept_terms: true, invite_code: code };
    const answer = await call('POST', '/v1/auth/register', { ip: `203.0.113.${serial % 250}`, body });
    expect([answer.statusCode, answer.body]).toEqual([201, answer.body]);
    const token = await linkOf('email_verification', email);
    await call('POST', '/v1/auth/verify-email', { body: { token, password: PASSWORD } });
    return signIn({ email, password: PASSWORD });
  };
  /** A person who has not been let in. */
  const stranger = async () => {
    const person = await makePerson(b, 'viewer');
    await rows('update person set admitted_at = null where id = $1', [person.id]);
    return signIn(person);
  };
  let tier: { id: string };
  beforeEach(async () => {
    const made = await ask('POST', '/v1/reseller/tiers', { name: `Tier ${++serial}`, markup_bps: 500 });
    tier = made.json();
    await ask('PATCH', `/v1/reseller/tiers/${tier.id}`, { is_default: true });
  });

  test('an organization that is made with a code is a customer on the default tier, and the use is counted', async () => {
    const { id, code } = await make({ max_uses: 2 });
    const child = { kind: 'child', parent_org_id: a.org.id, reseller_tier_id: tier.id };
    const registered = await found(await join(code));
    expect(registered.statusCode).toBe(201);
    expect(await parentOf(registered.json().id)).toEqual(child);
    const typed = await found(await stranger(), { invite_code: code });
    expect(await parentOf(typed.json().id)).toEqual(child);
    const listed = (await ask('GET', '/v1/reseller/invites')).json().data;
    expect(listed.find((row: { id: string }) => row.id === id)).toMatchObject({
      ...{ uses: 2, max_uses: 2, status: 'used_up' },
    });
    expect(JSON.stringify(listed)).not.toContain(code);
    const third = await found(await stranger(), { invite_code: code });
    expect([third.statusCode, codeOf(third)]).toEqual([403, 'invite_required']);
  });

  test("a person's further organizations are nobody's customers", async () => {
    const key = await join((await make({ max_uses: 5 })).code);
    expect(await parentOf((await found(key)).json().id)).toMatchObject({ kind: 'child' });
    expect(await parentOf((await found(key)).json().id)).toMatchObject({ kind: 'team', parent_org_id: null });
  });

  test('a code that was revoked, or whose reseller was suspended, makes no customer', async () => {
    const gone = await make();
    expect((await ask('DELETE', `/v1/reseller/invites/${gone.id}`)).statusCode).toBe(204);
    expect(codeOf(await ask('DELETE', `/v1/reseller/invites/${gone.id}`))).toBe('state_conflict');
    expect(codeOf(await found(await stranger(), { invite_code: gone.code }))).toBe('invite_required');
    const { code, id } = await make();
    await rows(`update org set status = 'suspended' where id = $1`, [a.org.id]);
    expect(codeOf(await found(await stranger(), { invite_code: code }))).toBe('invite_required');
    await rows(`update org set status = 'active' where id = $1`, [a.org.id]);
    const [row] = await rows<{ uses: number }>('select uses from invite_code where id = $1', [id]);
    expect(row?.uses).toBe(0);
  });

  test('codes of a reseller and ours are kept apart', async () => {
    const { id } = await make();
    const other = await signIn(await makePerson(b, 'owner'));
    expect((await ask('GET', '/v1/reseller/invites', undefined, other)).statusCode).toBe(403);
    const [ours] = await rows<{ id: string }>(
      `insert into invite_code (id, hash, hash_key_id, hint, note, max_uses, expires_at, created_by, created_at)
       select replace(id, left(right(id, 2), 2), 'ZZ'), decode(md5($1), 'hex'), hash_key_id, hint, 'ours', 1, expires_at,
              created_by, created_at from invite_code where id = $2 returning id`,
      [`${mode} ${id}`, id],
    );
    expect(codeOf(await ask('DELETE', `/v1/reseller/invites/${ours?.id}`))).toBe('not_found');
    const listed = (await ask('GET', '/v1/reseller/invites')).json().data as { note: string }[];
    expect(listed.every(({ note }) => note === 'a fair')).toBe(true);
  });
});
