// Mail domains: claimed, proved by a TXT record at a name server, and owned by one organization.
import { openEgress } from '@svc/core/egress/index.ts';
import { recheckDomains } from '@svc/core/identity/index.ts';
import { readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { startNameServer } from '../../test/sim/dns.ts';

const names = await startNameServer();
const egress = openEgress(readConfig({ SVC_DNS_SERVERS: names.address }));
const harness = await startHarness({ services: { egress } });
const { a, b, call } = harness;
const DAY = 24 * 3_600_000;

afterEach(() => shiftClock(0));

interface Domain {
  readonly domain: string;
  readonly record: string;
  readonly token: string;
  readonly verified_at: string | null;
}

async function claim(domain: string, key = a.key): Promise<Domain> {
  const answer = await call('POST', '/v1/org/sso/domains', { key, body: { domain } });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().domain;
}

const verify = (domain: string, key = a.key) =>
  call('POST', `/v1/org/sso/domains/${domain}/verify`, { key, body: {} });
const publish = ({ record, token }: Domain) => names.zone.set(`TXT ${record}`, ['v=spf1 -all', token]);
const listed = async (key = a.key): Promise<Domain[]> =>
  (await call('GET', '/v1/org/sso', { key })).json().domains;

test('a claimed domain is proved by its TXT record, and by nothing else', async () => {
  const made = await claim('Acme.Example.');
  expect(made).toMatchObject({
    domain: 'acme.example',
    record: '_svc-challenge.acme.example',
    verified_at: null,
  });
  expect(made.token).toMatch(/^svc-verify=[0-9A-Za-z]{32}$/);
  const asked = async () => {
    const { verified, reason } = (await verify('acme.example')).json();
    return [verified, reason];
  };
  expect(await asked()).toEqual([false, 'record_not_found']);
  names.zone.set(`TXT ${made.record}`, [`${made.token}x`, made.token.slice(0, -1), '']);
  expect(await asked()).toEqual([false, 'record_differs']);
  names.zone.set(`TXT ${made.record}`, 'fails');
  const failed = await verify('acme.example');
  expect([failed.statusCode, codeOf(failed)]).toEqual([503, 'dns_unavailable']);
  expect((await listed())[0]?.verified_at).toBeNull();
  publish(made);
  expect(await asked()).toEqual([true, null]);
  expect((await listed())[0]?.verified_at).toMatch(/Z$/);
});

test('names that nobody owns alone are no domains of an organization', async () => {
  const refused = [
    ...[
      'co.uk',
      'github.io',
      'com',
      'localhost',
      '192.0.2.1',
      '[::1]',
      'acme.example/path',
      'a@acme.example',
    ],
    ...[
      'acme.example:8080',
      '*.acme.example',
      '-acme.example',
      'acme..example',
      `${'a'.repeat(64)}.example`,
      ' . ',
    ],
  ];
  for (const domain of refused) {
    const answer = await call('POST', '/v1/org/sso/domains', { key: a.key, body: { domain } });
    expect([domain, answer.statusCode, codeOf(answer)]).toEqual([domain, 400, 'invalid_request']);
  }
  expect((await claim('bücher.example')).domain).toBe('xn--bcher-kva.example');
});

test('of two organizations that claim a domain at once, the one that proves it first has it', async () => {
  const ours = await claim('shared.example');
  const theirs = await claim('shared.example', b.key);
  names.zone.set(`TXT ${ours.record}`, [ours.token, theirs.token]);
  const answers = await Promise.all([verify('shared.example'), verify('shared.example', b.key)]);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
  const refused = answers.find(({ statusCode }) => statusCode === 409);
  expect(codeOf(refused as (typeof answers)[0])).toBe('domain_taken');
  const owner = answers[0]?.statusCode === 200 ? a : b;
  const given_up = await call('DELETE', '/v1/org/sso/domains/shared.example', { key: owner.key });
  expect(given_up.statusCode).toBe(204);
  // Given up, it is free for the other one.
  expect((await verify('shared.example', owner === a ? b.key : a.key)).statusCode).toBe(200);
});

test('a domain is claimed once by an organization, is unknown to others, and fifty are the most', async () => {
  await claim('twice.example');
  const again = await call('POST', '/v1/org/sso/domains', { key: a.key, body: { domain: 'TWICE.example' } });
  expect([again.statusCode, codeOf(again)]).toEqual([409, 'already_exists']);
  for (const answer of [
    await verify('twice.example', b.key),
    await call('DELETE', '/v1/org/sso/domains/twice.example', { key: b.key }),
  ])
    expect([answer.statusCode, codeOf(answer)]).toEqual([404, 'not_found']);
  const crowded = await harness.makeTenant('crowded');
  for (let n = 0; n < 50; n++) await claim(`n${n}.example`, crowded.key);
  const over = await call('POST', '/v1/org/sso/domains', {
    key: crowded.key,
    body: { domain: 'over.example' },
  });
  expect([over.statusCode, codeOf(over)]).toEqual([409, 'plan_limit_reached']);
});

test('a proved domain whose record is missing four weeks in a row is mailed about once, and stays proved', async () => {
  const made = await claim('gone.example');
  publish(made);
  await verify('gone.example');
  await harness.makePerson(a, 'owner');
  names.zone.delete(`TXT ${made.record}`);
  const mails = async () => {
    const { rows } = await harness.pool.query<{ n: number }>({
      name: 'test.mails',
      text: `select count(*)::int as n from mail where template = 'sso_domain_missing'`,
    });
    return rows[0]?.n;
  };
  const weekly: unknown[] = [];
  for (let week = 1; week <= 6; week++) {
    shiftClock(week * 8 * DAY);
    // Without an answer nothing is known.
    names.zone.set(`TXT ${made.record}`, 'fails');
    if (week === 2) await recheckDomains(harness.context, egress);
    else {
      names.zone.delete(`TXT ${made.record}`);
      await recheckDomains(harness.context, egress);
    }
    weekly.push(await mails());
  }
  expect(weekly).toEqual([0, 0, 0, 0, 1, 1]);
  expect((await listed()).find(({ domain }) => domain === 'gone.example')?.verified_at).not.toBeNull();
  // A whole week between two looks.
  expect(await recheckDomains(harness.context, egress)).toBe(0);
});
