// Domains of storefronts (docs/resellers/domains.md): what is wrong with one is named, and nobody takes one over.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { recheckStorefronts } from '@svc/core/storefronts/index.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { broken } from './broken.ts';
import { BASE, BASE_ADDRESS, type Claim, startStorefronts } from './world.ts';

const world = await startStorefronts();
const { names, ask, refused, claim, verify, publish, harness, rows } = world;
const ours = await world.reseller('ours');
const theirs = await world.reseller('theirs');
const DAY = 24 * 3_600_000;
const domains = '/v1/reseller/storefront/domains';
let serial = 0;
const fresh = () => `ai.case${++serial}.example`;

afterEach(() => shiftClock(0));

describe('names', () => {
  test.each([
    ['Ai.ACME.example.', 'ai.acme.example'],
    ['ai.port.example:8443', 'ai.port.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['shop.acme.co.uk', 'shop.acme.co.uk'],
  ])('%s is claimed as %s', async (given, domain) => {
    const made = await claim(ours, given);
    expect(made).toMatchObject({
      domain,
      record: `_svc-storefront.${domain}`,
      target: BASE,
      verified_at: null,
    });
    expect(made.token).toMatch(/^svc-verify=[0-9A-Za-z]{32}$/);
    expect(
      await ask('DELETE', `${domains}/${encodeURIComponent(domain)}`, ours.token, undefined, 204),
    ).toBeNull();
  });

  test.each([
    ['co.uk', 'shared'],
    ['github.io', 'shared'],
    ['192.0.2.1', 'address'],
    ['192.0.2.1:443', 'address'],
    ['[2001:db8::1]', 'address'],
    ['2001:db8::1', 'address'],
    ['0x7f.1', 'address'],
    ['*.acme.example', 'wildcard'],
    [BASE, 'ours'],
    [`acme.${BASE}`, 'ours'],
    ['llm.platform.example', 'ours'],
    ['CONSOLE.platform.example.', 'ours'],
    ['localhost', 'form'],
    ['acme.example/path', 'form'],
    ['a@acme.example', 'form'],
    ['acme..example', 'form'],
    [`${'a'.repeat(64)}.example`, 'form'],
    [`${'abcdefghi.'.repeat(24)}example`, 'form'],
  ])('%s is refused as %s', async (domain, reason) => {
    const reply = await harness.call('POST', domains, { key: ours.token, body: { domain } });
    expect([reply.statusCode, codeOf(reply), reply.json().error.param]).toEqual([
      400,
      'invalid_request',
      'domain',
    ]);
    expect(reply.json().error.details.faults[0].reason).toBe(reason);
  });

  test('a domain is claimed once, is nobody else’s, and twenty are the most', async () => {
    const crowded = await world.reseller('crowded');
    for (let n = 0; n < 20; n++) await claim(crowded, `n${n}.example`);
    expect(await refused('POST', domains, crowded.token, { domain: 'N3.example' })).toEqual([
      409,
      'plan_limit_reached',
    ]);
    await ask('DELETE', `${domains}/n0.example`, crowded.token, undefined, 204);
    expect(await refused('POST', domains, crowded.token, { domain: 'N3.example' })).toEqual([
      409,
      'already_exists',
    ]);
    for (const [method, path] of [
      ['POST', `${domains}/n3.example/verify`],
      ['DELETE', `${domains}/n3.example`],
      ['DELETE', `${domains}/no%20name`],
    ] as const)
      expect(await refused(method, path, theirs.token, {})).toEqual([404, 'not_found']);
    expect((await ask<{ data: Claim[] }>('GET', domains, theirs.token)).data).toEqual([]);
  });
});

describe('verifying', () => {
  beforeEach(() => {
    names.zone.clear();
    names.zone.set(`A ${BASE}`, [BASE_ADDRESS]);
  });

  test.each(broken)('%s, as %s says: %s', async (fault, name, _of, set) => {
    const made = await claim(ours, fresh());
    publish(made);
    set(made, names.zone);
    const { checks, verified_at } = await verify(ours, made.domain);
    const wrong = checks.filter(({ ok }) => !ok);
    expect(wrong.find((check) => check.name === name)).toMatchObject({ fault, ok: false });
    for (const check of wrong) {
      expect(check.fix).toMatch(/\.$/);
      expect(['you', 'dns_provider', 'service']).toContain(check.who);
    }
    // What leads elsewhere is no lack of proof, and names one thing alone unless the whole domain is gone.
    expect(verified_at === null).toBe(name === 'ownership');
    if (fault !== 'domain_missing') expect(wrong.map((check) => check.name)).toEqual([name]);
    await ask('DELETE', `${domains}/${made.domain}`, ours.token, undefined, 204);
  });

  test('an apex without address is told to use an ALIAS, and one that has it is right', async () => {
    const made = await claim(ours, `apex${++serial}.example`);
    names.zone.set(`TXT ${made.record}`, [made.token]);
    const of = async () =>
      (await verify(ours, made.domain)).checks.find(({ name }) => name === 'routing')?.fault;
    expect(await of()).toBe('apex_needs_alias');
    names.zone.set(`A ${made.domain}`, [BASE_ADDRESS]);
    expect(await of()).toBeNull();
    await ask('DELETE', `${domains}/${made.domain}`, ours.token, undefined, 204);
  });

  test('the token of an earlier claim is told from that of somebody else', async () => {
    const domain = fresh();
    const before = await claim(ours, domain);
    await ask('DELETE', `${domains}/${domain}`, ours.token, undefined, 204);
    const made = await claim(ours, domain);
    expect(made.token).not.toBe(before.token);
    publish({ ...made, token: before.token });
    expect((await verify(ours, domain)).checks[0]).toMatchObject({
      ...{ name: 'ownership', fault: 'token_old', expected: made.token, observed: [before.token] },
    });
    await ask('DELETE', `${domains}/${domain}`, ours.token, undefined, 204);
  });

  test('all is right: among other records, in pieces, over TCP, and with an authority that is allowed', async () => {
    const made = await claim(ours, fresh());
    publish(made);
    names.zone.set(`TXT ${made.record}`, [
      'x'.repeat(600),
      `${made.token.slice(0, 9)}\n${made.token.slice(9)}`,
    ]);
    names.cut.add(`TXT ${made.record}`);
    names.zone.set(`CAA ${made.domain}`, [
      'issue pki.goog',
      'issue letsencrypt.org; validationmethods=http-01',
    ]);
    names.zone.set(`AAAA ${BASE}`, ['2606:2800:220:1::7']);
    const seen = names.over_tcp;
    const { checks, verified_at } = await verify(ours, made.domain);
    expect(checks.map(({ name, ok, fault, who, fix }) => [name, ok, fault, who, fix])).toEqual(
      ['ownership', 'routing', 'ipv6', 'certificate'].map((name) => [name, true, null, null, null]),
    );
    expect(verified_at).toMatch(/Z$/);
    expect(names.over_tcp).toBe(seen + 1);
    await ask('DELETE', `${domains}/${made.domain}`, ours.token, undefined, 204);
  });

  test('what zones say is shown in bounds and without control characters', async () => {
    const made = await claim(ours, fresh());
    const many = Array.from({ length: 12 }, (_, n) => `${n}\u001b[31m${'y'.repeat(300)}`);
    names.zone.set(`TXT ${made.record}`, many);
    names.cut.add(`TXT ${made.record}`);
    const { observed } = (await verify(ours, made.domain)).checks[0]!;
    expect(observed).toHaveLength(10);
    for (const value of observed) expect(value).toMatch(/^\P{Cc}{1,201}$/u);
    await ask('DELETE', `${domains}/${made.domain}`, ours.token, undefined, 204);
  });
});

describe('who has a domain', () => {
  const shared = async () => {
    const domain = fresh();
    const [mine, other] = [await claim(ours, domain), await claim(theirs, domain)];
    publish(mine);
    names.zone.set(`TXT ${mine.record}`, [mine.token, other.token]);
    return domain;
  };
  /** The same when the clock has moved and sessions have ended. */
  const later = async (of: typeof ours) => ({
    ...of,
    token: await harness.signIn(await harness.makePerson(of, 'owner')),
  });
  const send = (of: typeof ours, domain: string) =>
    harness.call('POST', `${domains}/${domain}/verify`, { key: of.token, body: {} });

  test('of two resellers that prove a domain at once one has it, and the other cannot even claim it', async () => {
    const domain = await shared();
    const answers = await Promise.all([send(ours, domain), send(theirs, domain)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    const loser = answers[0]?.statusCode === 409 ? ours : theirs;
    const taken = await rows('select org_id from storefront_domain_proof where domain = $1', [domain]);
    expect(taken).toEqual([{ org_id: (loser === ours ? theirs : ours).org.id }]);
    await ask('DELETE', `${domains}/${domain}`, loser.token, undefined, 204);
    expect(await refused('POST', domains, loser.token, { domain })).toEqual([409, 'domain_taken']);
  });

  test('nobody else can prove or claim a domain that was given up for thirty days, and its owner can at once', async () => {
    const domain = await shared();
    expect((await send(ours, domain)).statusCode).toBe(200);
    await ask('DELETE', `${domains}/${domain}`, ours.token, undefined, 204);
    const late = await send(theirs, domain);
    expect([late.statusCode, codeOf(late)]).toEqual([409, 'domain_taken']);
    const free_at = Date.parse(late.json().error.details.free_at);
    expect(Math.abs(free_at - Date.now() - 30 * DAY)).toBeLessThan(60_000);
    await ask('DELETE', `${domains}/${domain}`, theirs.token, undefined, 204);
    expect(await refused('POST', domains, theirs.token, { domain })).toEqual([409, 'domain_taken']);
    shiftClock(29.9 * DAY);
    const { token } = await later(theirs);
    expect(await refused('POST', domains, token, { domain })).toEqual([409, 'domain_taken']);
    shiftClock(0);
    publish(await claim(ours, domain));
    expect((await verify(ours, domain)).verified_at).toMatch(/Z$/);
    await ask('DELETE', `${domains}/${domain}`, ours.token, undefined, 204);
    shiftClock(30.1 * DAY);
    const they = await later(theirs);
    publish(await claim(they, domain));
    expect((await verify(they, domain)).verified_at).toMatch(/Z$/);
  });

  test('a claim that was given up without a proof keeps nobody away', async () => {
    const domain = await shared();
    await ask('DELETE', `${domains}/${domain}`, ours.token, undefined, 204);
    expect((await send(theirs, domain)).statusCode).toBe(200);
  });

  test('who waits while a domain is given up does not get it', async () => {
    const domain = await shared();
    expect((await send(ours, domain)).statusCode).toBe(200);
    const answers = await Promise.all([
      harness.call('DELETE', `${domains}/${domain}`, { key: ours.token }),
      ...Array.from({ length: 8 }, () => send(theirs, domain)),
    ]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, ...Array(8).fill(409)]);
  });

  test('a record that is gone three days in a row ends the proof; a server that is silent ends nothing', async () => {
    const domain = fresh();
    const made = await claim(ours, domain);
    publish(made);
    await verify(ours, domain);
    const at = async () =>
      (
        await rows<{ misses: number }>('select misses from storefront_domain_proof where domain = $1', [
          domain,
        ])
      )[0]?.misses;
    const mails = () =>
      rows<{ is_lost: boolean }>(
        `select distinct (data->>'is_lost')::bool as is_lost, created_at from mail
          where template = 'storefront_domain_missing' and data->>'domain' = $1 order by created_at`,
        [domain],
      );
    const look = async (day: number) => {
      shiftClock(day * 1.01 * DAY);
      while ((await recheckStorefronts(harness.context, world.egress)) > 0);
      return at();
    };
    names.zone.delete(`TXT ${made.record}`);
    expect(await recheckStorefronts(harness.context, world.egress)).toBe(0);
    expect([await look(1), await look(2)]).toEqual([1, 2]);
    names.zone.set(`TXT ${made.record}`, 'fails');
    expect(await look(3)).toBe(2);
    names.zone.set(`TXT ${made.record}`, [made.token]);
    expect(await look(4)).toBe(0);
    names.zone.delete(`TXT ${made.record}`);
    expect([await look(5), await look(6), await look(7)]).toEqual([1, 2, undefined]);
    expect((await mails()).map(({ is_lost }) => is_lost)).toEqual([false, false, true]);
    const { token } = await later(theirs);
    expect(await refused('POST', domains, token, { domain })).toEqual([409, 'domain_taken']);
    names.zone.set(`TXT ${made.record}`, [made.token]);
    expect((await verify(await later(ours), domain)).verified_at).toMatch(/Z$/);
  });
});
