// Answers of a SAML provider that are not what was asked for: none signs anybody in, and none leaves a row. What they try
// stands in test/sim/saml/corpus.ts.
import { openEgress } from '@svc/core/egress/index.ts';
import { nowMs, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';
import { startNameServer } from '../sim/dns.ts';
import { beginSaml, comeBack, inForm, postAnswer, type SamlBegun } from '../sim/saml/browser.ts';
import { corpus, type Parties } from '../sim/saml/corpus.ts';
import { type Said, SamlForge } from '../sim/saml/forge.ts';
import { acme, borealis, short_certificate, stranger } from '../sim/saml/keys.ts';
import { cookieOf, prove } from '../sim/sso-browser.ts';

const names = await startNameServer();
const env = {
  SVC_DNS_SERVERS: names.address,
  SVC_ALLOW_INSECURE_WEBHOOKS: '1',
  SVC_EGRESS_ALLOW: '127.0.0.2',
};
const harness = await startHarness({ services: { egress: openEgress(readConfig(env)) } });
const { a, b, call, pool } = harness;
const forges = {
  honest: new SamlForge('https://id.acme.example', acme),
  stranger: new SamlForge('https://id.acme.example', stranger),
  other: new SamlForge('https://id.borealis.example', borealis),
};
await prove(harness, names, a, 'acme.example');
await prove(harness, names, b, 'borealis.example');

afterEach(() => shiftClock(0));

function put(tenant = a, config: object = {}, more: object = {}) {
  const forge = tenant === a ? forges.honest : forges.other;
  const given = Object.keys(config).some((name) => /^(metadata_|idp_)/.test(name));
  const whole = { ...(given ? {} : { metadata_xml: forge.metadata() }), ...config };
  const body = { kind: 'saml', display_name: 'ID', config: whole, ...more };
  return call('PUT', '/v1/org/sso', { key: tenant.key, body });
}
for (const tenant of [a, b]) {
  const answer = await put(tenant);
  expect(answer.statusCode, answer.body).toBe(200);
}

function targetOf({ alias, request_id }: SamlBegun) {
  const base = `http://127.0.0.1:8080/v1/auth/sso/${alias}`;
  return { entity_id: `${base}/metadata`, acs_url: `${base}/acs`, request_id, at: nowMs() };
}
const partiesFor = (begun: SamlBegun): Parties => ({ ...forges, to: targetOf(begun) });

async function traces(): Promise<unknown> {
  const { rows } = await pool.query({
    name: 'test.traces',
    text: `select (select count(*) from person)::int, (select count(*) from org_member)::int as members,
                  (select count(*) from session)::int as sessions, (select count(*) from outbox)::int as events`,
  });
  return rows[0];
}
const reasonOf = (page: string) => /\((\w+)\)/.exec(page)?.[1] ?? '';

test('the honest answer signs in, with and without a signature of the whole, so that what follows fails for its fault alone', async () => {
  for (const both of [false, true]) {
    const begun = await beginSaml(harness);
    const answer = await comeBack(harness, begun, forges.honest.answer(targetOf(begun), {}, { both }));
    expect(answer.statusCode, answer.body).toBe(303);
    expect(cookieOf(answer, 'svc_session')).not.toBe('');
  }
});

test('the corpus has the families that it must have', () => {
  const attacks = Object.keys(corpus);
  expect(attacks.length).toBeGreaterThanOrEqual(40);
  for (let n = 1; n <= 8; n++) expect(attacks.some((name) => name.startsWith(`XSW${n}:`))).toBe(true);
});

test.each(Object.entries(corpus))('%s signs nobody in', async (_name, make) => {
  const begun = await beginSaml(harness);
  const { xml, reason } = make(partiesFor(begun));
  const before = await traces();
  const answer = await comeBack(harness, begun, xml);
  expect([answer.statusCode, reasonOf(answer.body)]).toEqual([403, reason]);
  expect(answer.headers['content-type']).toContain('text/html');
  expect(cookieOf(answer, 'svc_session')).toBe('');
  expect(await traces()).toEqual(before);
});

test('of an honest answer that comes twenty times at once one is heard', async () => {
  const begun = await beginSaml(harness);
  const form = inForm(forges.honest.answer(targetOf(begun)));
  const answers = await Promise.all(Array.from({ length: 20 }, () => postAnswer(harness, 'acme', form)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, ...Array(19).fill(403)]);
  const heard = answers.find(({ statusCode }) => statusCode === 303);
  const next = new URL(String(heard?.headers.location));
  const path = `${next.pathname}${next.search}`;
  const fetches = await Promise.all(
    Array.from({ length: 8 }, () => call('GET', path, { headers: { cookie: begun.cookie } })),
  );
  expect(fetches.map(({ statusCode }) => statusCode).sort()).toEqual([303, ...Array(7).fill(403)]);
});

test('an assertion signs in once, also where the provider may begin and its answer names no request', async () => {
  expect((await put(a, { allow_idp_initiated: true })).statusCode).toBe(200);
  const to = { ...targetOf({ alias: 'acme', request_id: '' } as SamlBegun) };
  const said: Said = { in_response_to: null, subject_in_response_to: null, assertion_id: '_once' };
  const xml = forges.honest.answer(to, said);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => postAnswer(harness, 'acme', inForm(xml))),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, ...Array(19).fill(403)]);
  // Another response around the same assertion, and another signature of it, are the same assertion.
  for (const options of [{}, { both: true }]) {
    const again = await postAnswer(harness, 'acme', inForm(forges.honest.answer(to, said, options)));
    expect([again.statusCode, reasonOf(again.body)]).toEqual([403, 'replayed']);
  }
  // An answer to a request is not one that nobody asked for.
  const stolen = forges.honest.answer(to, { in_response_to: null, subject_in_response_to: '_of_somebody' });
  expect(reasonOf((await postAnswer(harness, 'acme', inForm(stolen))).body)).toBe('request_unknown');
  await put();
});

test('an answer is good in the browser that began, at the organization that it began at, and for ten minutes', async () => {
  const begun = await beginSaml(harness);
  const other = await beginSaml(harness);
  const elsewhere = await comeBack(
    harness,
    { ...begun, cookie: other.cookie },
    forges.honest.answer(targetOf(begun)),
  );
  expect([elsewhere.statusCode, reasonOf(elsewhere.body)]).toEqual([403, 'other_browser']);
  const without = await comeBack(harness, { ...other, cookie: '' }, forges.honest.answer(targetOf(other)));
  expect([without.statusCode, reasonOf(without.body)]).toEqual([403, 'other_browser']);

  const third = await beginSaml(harness);
  const to = { ...targetOf({ ...third, alias: 'borealis' }) };
  const moved = await comeBack(harness, { ...third, alias: 'borealis' }, forges.other.answer(to));
  expect([moved.statusCode, reasonOf(moved.body)]).toEqual([403, 'request_unknown']);

  const fourth = await beginSaml(harness);
  shiftClock(10 * 60_000 + 1_000);
  const late = await comeBack(harness, fourth, forges.honest.answer({ ...targetOf(fourth), at: nowMs() }));
  expect(late.statusCode).toBe(403);
});

test('the id of a request is no ticket: nobody is signed in by naming it where answers are fetched', async () => {
  const begun = await beginSaml(harness);
  const path = `/v1/auth/sso/acme/callback?state=${begun.request_id}`;
  const answer = await call('GET', path, { headers: { cookie: begun.cookie } });
  expect([answer.statusCode, reasonOf(answer.body), cookieOf(answer, 'svc_session')]).toEqual([
    403,
    'answer_invalid',
    '',
  ]);
});

test('a provider of one organization signs nobody in for the domain of another', async () => {
  const begun = await beginSaml(harness, 'borealis');
  const answer = await comeBack(
    harness,
    begun,
    forges.other.answer(targetOf(begun), { email: 'x@acme.example' }),
  );
  expect([answer.statusCode, answer.body.includes('sso_domain_unverified')]).toEqual([403, true]);
});

const forms: Readonly<Record<string, (xml: string) => string>> = {
  'no answer': () => 'RelayState=/',
  'two answers': (xml) => {
    const text = new URLSearchParams(inForm(xml)).toString();
    return `${text}&${text}`;
  },
  'an answer that is no base64': () => new URLSearchParams({ SAMLResponse: '<a/>' }).toString(),
  'an answer that is no UTF-8': () =>
    new URLSearchParams({ SAMLResponse: Buffer.from([0x3c, 0xff, 0xfe]).toString('base64') }).toString(),
  'an answer in UTF-16': (xml) =>
    new URLSearchParams({
      SAMLResponse: Buffer.from(`\ufeff${xml}`, 'utf16le').toString('base64'),
    }).toString(),
};

test.each(Object.entries(forms))('a form with %s signs nobody in', async (_name, form) => {
  const begun = await beginSaml(harness);
  const before = await traces();
  const answer = await postAnswer(harness, 'acme', form(forges.honest.answer(targetOf(begun))));
  expect([answer.statusCode, reasonOf(answer.body)]).toEqual([403, 'answer_malformed']);
  expect(await traces()).toEqual(before);
});

test('a form that is larger than any answer is refused before it is read', async () => {
  const answer = await postAnswer(harness, 'acme', `SAMLResponse=${'A'.repeat(600_000)}`);
  expect(answer.statusCode).toBe(413);
  const json = await call('POST', '/v1/auth/sso/acme/acs', { body: { SAMLResponse: 'x' } });
  expect(json.statusCode).toBe(403);
});

test('the way back leads nowhere but into the console, whatever RelayState says', async () => {
  for (const [asked, path] of [
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['/acme/live/keys?x=1', '/acme/live/keys?x=1'],
  ] as const) {
    const begun = await beginSaml(harness, 'acme', `?return_to=${encodeURIComponent(asked)}`);
    expect(begun.url.searchParams.get('RelayState')).toBeNull();
    const form = { ...inForm(forges.honest.answer(targetOf(begun))), RelayState: 'https://evil.example/' };
    const posted = await postAnswer(harness, 'acme', form);
    const next = new URL(String(posted.headers.location));
    expect(next.origin).toBe('http://127.0.0.1:8080');
    const answer = await call('GET', `${next.pathname}${next.search}`, { headers: { cookie: begun.cookie } });
    expect(answer.headers.location).toBe(`http://127.0.0.1:8081${path}`);
  }
});

test('whom a directory has deactivated leaves no row, no session and no address in the log', async () => {
  const person = await harness.makePerson(a, 'developer');
  await pool.query({
    name: 'test.suspend',
    text: `update org_member set status = 'suspended' where org_id = $1 and user_id = $2`,
    values: [a.org.id, person.id],
  });
  const before = await traces();
  const begun = await beginSaml(harness);
  const answer = await comeBack(
    harness,
    begun,
    forges.honest.answer(targetOf(begun), { email: person.email }),
  );
  expect([answer.statusCode, answer.body.includes('user_not_provisioned')]).toEqual([403, true]);
  expect(await traces()).toEqual(before);
  const { rows } = await pool.query<{ text: string }>({
    name: 'test.denied',
    text: `select string_agg(t::text, '') as text from audit_entry t where outcome = 'denied'`,
  });
  expect(rows[0]?.text).toContain('""method"": ""saml""');
  for (const secret of [person.email, 'victim@', 'mallory@', 'x@acme'])
    expect(rows[0]?.text).not.toContain(secret);
});

const descriptions: Readonly<Record<string, [object | (() => object), string]>> = {
  'of two ways at once': [
    { metadata_xml: forges.honest.metadata(), metadata_url: 'https://x.example/' },
    'config',
  ],
  'with a document type': [
    { metadata_xml: `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>${forges.honest.metadata()}` },
    'config.metadata_xml',
  ],
  'that is no XML': [{ metadata_xml: 'hello' }, 'config.metadata_xml'],
  'of a service and not of a provider': [
    { metadata_xml: forges.honest.metadata().replaceAll('IDPSSODescriptor', 'SPSSODescriptor') },
    'config.metadata_xml',
  ],
  'that has lapsed': [
    { metadata_xml: forges.honest.metadata({ more: ' validUntil="2020-01-01T00:00:00Z"' }) },
    'config.metadata_xml',
  ],
  'without a certificate': [
    { metadata_xml: forges.honest.metadata({ certificates: [] }) },
    'config.metadata_xml',
  ],
  'with a key that is too short': [
    { metadata_xml: forges.honest.metadata({ certificates: [short_certificate] }) },
    'config.metadata_xml',
  ],
  'that sends browsers to a script': [
    { metadata_xml: forges.honest.metadata({ sso_url: 'javascript:alert(1)' }) },
    'config.metadata_xml',
  ],
  'by facts without a certificate': [
    { idp_entity_id: 'x', sso_url: 'https://id.acme.example/sso', certificates: ['nothing'] },
    'config.certificates',
  ],
  'by facts that send browsers elsewhere': [
    { idp_entity_id: 'x', sso_url: 'data:text/html,x', certificates: [acme.certificate] },
    'config.sso_url',
  ],
  'at an address inside the network': [{ metadata_url: 'https://10.0.0.1/metadata' }, 'config.metadata_url'],
  'at the address of the cloud around it': [
    { metadata_url: 'https://169.254.169.254/latest/meta-data' },
    'config.metadata_url',
  ],
  'at an address with a password': [
    { metadata_url: 'https://user:word@id.acme.example/' },
    'config.metadata_url',
  ],
  'at a name that leads inside the network': [
    () => {
      names.zone.set('A inside.acme.example', ['10.0.0.7']);
      return { metadata_url: 'https://inside.acme.example/metadata' };
    },
    'config.metadata_url',
  ],
};

test.each(Object.entries(descriptions))('a provider %s is not connected', async (_name, [config, param]) => {
  const answer = await put(a, typeof config === 'function' ? config() : config);
  expect([answer.statusCode, codeOf(answer), answer.json().error.param]).toEqual([
    400,
    'invalid_request',
    param,
  ]);
});

test('no attack met a defect', () => {
  expect(harness.defects).toEqual([]);
});
