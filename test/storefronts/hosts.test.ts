// Which hosts are served, and whose customers people become there (docs/resellers/domains.md#hosts).
import { request } from 'node:http';
import { freePort } from '@svc/cli/tools/postgres.ts';
import type { Db } from '@svc/core/kernel/index.ts';
import { HostMemory } from '@svc/core/storefronts/index.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { atFileEnd } from '../support/ends.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { BASE, startStorefronts } from './world.ts';

const world = await startStorefronts({ SVC_SIGNUP: 'closed' });
const { harness, ask, forget, rows } = world;
const { call } = harness;
const acme = await world.reseller('acme-ai');
const rival = await world.reseller('rival');
const SHOP = `acme-ai.${BASE}`;
const RIVAL = `rival.${BASE}`;
const put = (of: typeof acme, more: object = {}) =>
  ask('PUT', '/v1/reseller/storefront', of.token, { display_name: 'Shop', ...more });
for (const one of [acme, rival]) await put(one);
const domain = await world.claim(acme, 'ai.acme.example');
world.publish(domain);
await world.verify(acme, domain.domain);

beforeEach(forget);
const at = (host: string, path = '/v1/providers', key?: string) =>
  call('GET', path, { headers: { host }, ...(key === undefined ? {} : { key }) });

describe('hosts', () => {
  test.each([
    ['llm.platform.example'],
    ['LLM.platform.example:443'],
    ['console.platform.example'],
    ['127.0.0.1:8080'],
    ['[::1]:8080'],
    ['10.42.0.7'],
    ['localhost'],
    ['svc-gateway'],
    ['svc-gateway.llm.svc'],
    ['svc-gateway.llm.svc.cluster.local'],
    [SHOP],
    [`${SHOP}.`],
    [`ACME-ai.${BASE}:8443`],
    ['ai.acme.example'],
  ])('%s is served', async (host) => {
    expect((await at(host)).statusCode).toBe(200);
  });

  test.each([
    ['nobody.example'],
    [BASE],
    [`borealis.${BASE}`],
    [`x.${SHOP}`],
    ['x.ai.acme.example'],
    ['acme.example'],
    ['llm.platform.example.evil.example'],
    [`${'a'.repeat(300)}.example`],
  ])('%s is answered 421 in our form, whatever is asked, and health all the same', async (host) => {
    for (const path of ['/v1/providers', '/v1/keys', '/docs', '/nothing', '/v1/graphql']) {
      const reply = await at(host, path, harness.a.key);
      expect([path, reply.statusCode, codeOf(reply)]).toEqual([path, 421, 'misdirected_request']);
    }
    for (const path of ['/healthz', '/readyz?x=1']) expect((await at(host, path)).statusCode).toBe(200);
  });

  test('a domain that is given up, and a reseller that closes, serve nobody', async () => {
    const gone = await world.claim(acme, 'gone.acme.example');
    expect((await at('gone.acme.example')).statusCode).toBe(421);
    world.publish(gone);
    await world.verify(acme, 'gone.acme.example');
    forget();
    expect((await at('gone.acme.example')).statusCode).toBe(200);
    await ask('DELETE', '/v1/reseller/storefront/domains/gone.acme.example', acme.token, undefined, 204);
    forget();
    expect((await at('gone.acme.example')).statusCode).toBe(421);
    await rows(`update org set status = 'closed', closed_at = now() where id = $1`, [rival.org.id]);
    expect((await at(RIVAL)).statusCode).toBe(421);
    await rows(`update org set status = 'active', closed_at = null where id = $1`, [rival.org.id]);
  });

  test('keys and sessions work at every host, and refusals lead to the host that was asked', async () => {
    for (const host of ['llm.platform.example', SHOP, RIVAL]) {
      expect((await at(host, '/v1/keys', harness.a.key)).statusCode).toBe(200);
      expect((await at(host, '/v1/auth/session', acme.token)).statusCode).toBe(200);
    }
    const refused = await at(`${SHOP}:8443`, '/v1/keys', 'svc-live-no');
    expect(refused.json().error.doc_url).toBe(`https://${SHOP}:8443/docs/errors#${codeOf(refused)}`);
    // What a client adds behind its name is no part of an address.
    const odd = await at(`${SHOP}:"><b>`, '/v1/keys', 'svc-live-no');
    expect(odd.json().error.doc_url).toBe(`https://${SHOP}/docs/errors#${codeOf(odd)}`);
  });

  test('pages of a storefront write with its cookie at its own host, and at no other', async () => {
    const { email, password } = await harness.makePerson(acme, 'owner');
    const from = (host: string, origin: string) =>
      call('POST', '/v1/auth/login', { headers: { host, origin }, body: { email, password } });
    expect((await from(SHOP, `https://${SHOP}`)).statusCode).toBe(200);
    for (const [host, origin] of [
      [SHOP, `https://${RIVAL}`],
      [SHOP, `http://${SHOP}`],
      ['llm.platform.example', `https://${SHOP}`],
    ] as const) {
      const refused = await from(host, origin);
      expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'csrf_failed']);
    }
  });
});

test('a gateway takes calls at its own hosts and those of storefronts, and at no others', async () => {
  const env = { SVC_STOREFRONT_BASE: BASE };
  const gateway = await startGatewayProcess({ database_url: harness.url, port: await freePort(), env });
  atFileEnd(() => gateway.kill());
  const ask = (host: string, path: string) =>
    new Promise<number | undefined>((done, fail) => {
      const headers = {
        host,
        authorization: `Bearer ${harness.a.test_key}`,
        'content-type': 'application/json',
      };
      const sent = request(`${gateway.base_url}${path}`, { method: 'POST', headers }, (answer) => {
        answer.resume().on('end', () => done(answer.statusCode));
      });
      sent.on('error', fail);
      sent.end(
        JSON.stringify({
          model: 'sandbox/echo',
          messages: [{ role: 'user', content: 'Hello' }],
          max_tokens: 9,
        }),
      );
    });
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    for (const host of [SHOP, 'ai.acme.example', `127.0.0.1:${gateway.port}`])
      expect([host, path, await ask(host, path)]).toEqual([host, path, 200]);
    for (const host of ['nobody.example', BASE])
      expect([host, path, await ask(host, path)]).toEqual([host, path, 421]);
  }
  expect(await gateway.stop()).toBe(0);
});

describe('the memory of hosts', () => {
  afterEach(() => void vi.useRealTimers());
  const counting = () => {
    const asked: unknown[] = [];
    const db: Db = {
      async query({ values = [] }) {
        asked.push(values[0]);
        await Promise.resolve();
        return { rows: [], rowCount: 0 };
      },
    };
    return { asked, memory: new HostMemory(db, BASE), db };
  };

  test('many who ask for a host at once are one question, and for seconds there is no other', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { asked, memory } = counting();
    expect(memory.peek('a.example')).toBeUndefined();
    await Promise.all(Array.from({ length: 50 }, () => memory.at('A.example:443')));
    for (let n = 0; n < 50; n++) await memory.at('a.example');
    expect([asked, memory.peek('a.example')]).toEqual([['a.example'], null]);
    vi.advanceTimersByTime(16_000);
    expect(memory.peek('a.example')).toBeUndefined();
    await memory.at('a.example');
    expect(asked).toEqual(['a.example', 'a.example']);
  });

  test('it has a bound, and names too long for one are not asked for', async () => {
    const { asked, memory } = counting();
    for (let n = 0; n < 10_100; n++) await memory.at(`n${n}.example`);
    expect([asked.length, memory.size]).toEqual([10_100, 10_000]);
    expect([memory.peek('n0.example'), memory.peek('n10099.example')]).toEqual([undefined, null]);
    expect(await memory.at('a'.repeat(254))).toBeNull();
    expect(asked.length).toBe(10_100);
  });

  test('a database that is away takes away nothing that was known', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const seller = { org_id: acme.org.id, name: 'Shop', registration: 'open' };
    const query = vi
      .fn()
      .mockResolvedValueOnce({ rows: [seller], rowCount: 1 })
      .mockRejectedValue(new Error('away'));
    const memory = new HostMemory({ query }, BASE);
    expect(await memory.at(SHOP)).toBe(seller);
    vi.advanceTimersByTime(16_000);
    expect(await memory.at(SHOP)).toBe(seller);
    await expect(memory.at('new.example')).rejects.toThrow('away');
  });
});

describe('people', () => {
  const PASSWORD = 'seven quiet rivers';
  let serial = 0;
  const login = (host: string, { email, password }: { email: string; password: string }) =>
    call('POST', '/v1/auth/login', { headers: { host }, body: { email, password, transport: 'bearer' } });
  const childOf = async (of: typeof acme, slug: string) => {
    const tenant = await harness.makeTenant(slug);
    await rows(`update org set kind = 'child', parent_org_id = $2 where id = $1`, [tenant.org.id, of.org.id]);
    return tenant;
  };
  const parentOf = async (id: string) =>
    (await rows<object>('select kind, parent_org_id, reseller_tier_id from org where id = $1', [id]))[0];
  /** Makes an account at `host` and proves its address; returns a session. */
  const join = async (host: string, more: object = {}) => {
    const email = `person${++serial}@new.example`;
    const person = { email, password: PASSWORD };
    const headers = { host };
    const ip = `203.0.113.${serial}`;
    const body = { ...person, name: 'Ravi', accept_terms: true, ...more };
    const answer = await call('POST', '/v1/auth/register', { headers, ip, body });
    if (answer.statusCode !== 201) return { refused: [answer.statusCode, codeOf(answer)], key: '' };
    const token = await harness.linkOf('email_verification', email);
    await call('POST', '/v1/auth/verify-email', { headers, body: { token, password: PASSWORD } });
    return { refused: null, key: (await login(host, person)).json().token as string };
  };
  const found = (host: string, key: string, more: object = {}) =>
    call('POST', '/v1/orgs', {
      ...{ key, headers: { host }, ip: `198.51.100.${++serial}` },
      body: { name: 'New', slug: `new-${serial}`, billing_country: 'IN', ...more },
    });

  test('who has to do with a reseller signs in at its hosts, and nobody else does', async () => {
    const child = await harness.makePerson(await childOf(acme, 'a-customer'), 'viewer');
    const own = await harness.makePerson(acme, 'viewer');
    const stranger = await harness.makePerson(harness.a, 'viewer');
    for (const person of [child, own]) {
      for (const host of [SHOP, 'ai.acme.example', 'llm.platform.example'])
        expect((await login(host, person)).statusCode).toBe(200);
      const refused = await login(RIVAL, person);
      expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'permission_denied']);
      expect(refused.json().error.details).toEqual({ reason: 'other_address' });
      // A wrong password is told nothing of it.
      expect(codeOf(await login(RIVAL, { ...person, password: 'wrong' }))).toBe('invalid_credentials');
    }
    expect((await login(SHOP, stranger)).statusCode).toBe(403);
    expect((await login('llm.platform.example', stranger)).statusCode).toBe(200);
  });

  test('at a storefront that is open everybody becomes a customer on its default tier, though we are closed', async () => {
    const tier = await ask<{ id: string }>(
      'POST',
      '/v1/reseller/tiers',
      acme.token,
      { name: 'One', markup_bps: 9 },
      201,
    );
    await put(acme, { registration: 'open', default_tier_id: tier.id });
    forget();
    expect((await join('llm.platform.example')).refused).toEqual([403, 'invite_required']);
    const { key } = await join(SHOP);
    const state = await call('GET', '/v1/signup', { key, headers: { host: SHOP } });
    expect(state.json()).toMatchObject({ invite_only: false, needs_invite: false });
    const made = await found(SHOP, key);
    expect([made.statusCode, await parentOf(made.json().id)]).toEqual([
      201,
      { kind: 'child', parent_org_id: acme.org.id, reseller_tier_id: tier.id },
    ]);
    await put(acme);
  });

  test('at one that asks for an invitation only its own code lets in, also whom we let in', async () => {
    const code = async (of: typeof acme) =>
      (
        await ask<{ code: string }>(
          'POST',
          '/v1/reseller/invites',
          of.token,
          { note: 'a fair', max_uses: 9 },
          201,
        )
      ).code;
    const [own, other] = [await code(acme), await code(rival)];
    expect((await join(SHOP)).refused).toEqual([403, 'invite_required']);
    expect((await join(SHOP, { invite_code: other })).refused).toEqual([403, 'invite_required']);
    const { key } = await join(SHOP, { invite_code: own });
    expect(await parentOf((await found(SHOP, key)).json().id)).toMatchObject({ parent_org_id: acme.org.id });
    const admitted = acme.token;
    expect(codeOf(await found(SHOP, admitted))).toBe('invite_required');
    expect(codeOf(await found(SHOP, admitted, { invite_code: other }))).toBe('invite_required');
    const made = await found(SHOP, admitted, { invite_code: own });
    expect(await parentOf(made.json().id)).toMatchObject({ parent_org_id: acme.org.id });
  });

  test('of a reseller that is suspended nobody becomes a customer', async () => {
    await put(rival, { registration: 'open' });
    forget();
    const { key } = await join(RIVAL);
    await rows(`update org set status = 'suspended' where id = $1`, [rival.org.id]);
    expect(codeOf(await found(RIVAL, key))).toBe('invite_required');
    await rows(`update org set status = 'active' where id = $1`, [rival.org.id]);
  });
});
