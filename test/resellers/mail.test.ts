// Whom mails to customers of a reseller come from: proved by records of its domain, signed with a key of its own.
import { createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEgress } from '@svc/core/egress/index.ts';
import { type Id, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { findSender, openMailTransport, sendDue, sendMail } from '@svc/core/mail/index.ts';
import { mailFromOf, recheckSenders, setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { noteFound } from '@svc/core/resellers/sender/look.ts';
import { afterEach, expect, test } from 'vitest';
import { verifiedSignature } from '../mail/dkim.ts';
import { codeOf, startHarness, type Tenant } from '../registry/harness.ts';
import { authority } from '../sim/certificates.ts';
import { startNameServer } from '../sim/dns.ts';
import { startMailServer } from '../sim/mail.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir } from '../support/gateway.ts';

const names = await startNameServer();
const egress = openEgress(readConfig({ SVC_DNS_SERVERS: names.address }));
const mail_return_host = 'bounce.gateway.example';
const harness = await startHarness({ services: { egress, mail_return_host } });
const { pool, context, root_key } = harness;
const server = await startMailServer();
const ca_file = join(freshDataDir(), 'ca.pem');
writeFileSync(ca_file, authority);
const transport = await openMailTransport(
  readConfig({
    SVC_SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=required`,
    SVC_SMTP_CA_FILE: ca_file,
    SVC_MAIL_FROM: 'Gateway <billing@gateway.example>',
    SVC_MAIL_DOMAIN: 'gateway.example',
  }),
);
atFileEnd(() => transport.close());
afterEach(() => shiftClock(0));

const PATH = '/v1/reseller/storefront/mail';
const DAY_MS = 86_400_000;
interface Record {
  readonly type: string;
  readonly host: string;
  readonly value: string;
  readonly verified: boolean;
}
interface Sender {
  readonly status: string;
  readonly domain: string;
  readonly from: string;
  readonly dkim: Record;
  readonly return_path: Record;
  readonly checked_at: string | null;
}

async function makeReseller(slug: string) {
  const tenant = await harness.makeTenant(slug);
  await setOrgKindOperation.run(context, { id: tenant.org.id, kind: 'reseller', reason: 'a contract' });
  const token = await harness.signIn(await harness.makePerson(tenant, 'owner'));
  const child = await harness.makeTenant(`${slug}-child`);
  const become = `update org set kind = 'child', parent_org_id = $2 where id = $1`;
  await pool.query({ name: '', text: become, values: [child.org.id, tenant.org.id] });
  const send = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', path = PATH, body?: object) =>
    harness.call(method, path, { key: token, ...(body === undefined ? {} : { body }) });
  const read = async (reply: Awaited<ReturnType<typeof send>>) => {
    expect(reply.statusCode, reply.body).toBe(200);
    return reply.json() as Sender;
  };
  return {
    ...{ tenant, child, send },
    get: async () => read(await send('GET')),
    put: async (domain: string, from_local = 'billing') =>
      read(await send('PUT', PATH, { domain, from_local })),
    verify: async () => read(await send('POST', `${PATH}/verify`)),
  };
}

function publish({ dkim, return_path }: Pick<Sender, 'dkim' | 'return_path'>): void {
  names.zone.set(`TXT ${dkim.host}`, [dkim.value]);
  names.zone.set(`CNAME ${return_path.host}`, [return_path.value]);
}
const lookup = (name: string) => (names.zone.get(`TXT ${name}`) as readonly string[] | undefined)?.[0];

let serial = 0;
/** Sends a mail of `org_id` and returns what the server took. */
async function deliver(org_id: Id<'org'> | null) {
  const to = `reader-${++serial}@people.example`;
  const data = { org: 'Acme', slug: 'acme', available: '$4.20', threshold: '$5.00' };
  await context.transaction((context) =>
    sendMail(context, { template: 'low_balance', to: [to], org_id, reference: `case-${serial}`, data }),
  );
  await sendDue({
    ...{ store: pool, transport, root_key, log: context.log, outcomes: new Map() },
    aroundOf: async () => ({ console_url: 'https://console.example', product: 'Gateway' }),
    openAttachment: async () => ({ filename: 'x', content_type: 'text/plain', content: new Uint8Array() }),
    fromOf: (db, org) => mailFromOf(db, root_key, org),
    onEnd: async () => {},
  });
  const found = server.received.find((one) => one.to.includes(to));
  if (found === undefined) throw new Error('the mail did not arrive');
  return found;
}
const senderOf = async ({ org }: Tenant) => (await deliver(org.id)).mail.from?.address;

test('a sender is a new key of 2048 bits whose public half is published and whose private half is sealed', async () => {
  const { tenant, send, get, put } = await makeReseller('alpha');
  expect(codeOf(await send('GET'))).toBe('not_found');
  for (const [domain, from_local] of [
    ...[
      ['co.uk', 'billing'],
      ['10.0.0.1', 'billing'],
      ['alpha.example/x', 'billing'],
      ['alpha', 'billing'],
    ],
    ...[
      ['alpha.example', 'a@b'],
      ['alpha.example', 'a..b'],
      ['alpha.example', '"a"'],
      ['alpha.example', 'é'],
    ],
  ])
    expect(codeOf(await send('PUT', PATH, { domain, from_local })), `${from_local}@${domain}`).toBe(
      'invalid_request',
    );
  const made = await put('Mail.Alpha.Example', 'Billing.team');
  expect(made).toMatchObject({
    ...{ status: 'pending', from: 'billing.team@mail.alpha.example', checked_at: null },
    dkim: { type: 'TXT', host: 'svc1._domainkey.mail.alpha.example', verified: false },
    return_path: {
      ...{ type: 'CNAME', host: 'bounce.mail.alpha.example', value: mail_return_host, verified: false },
    },
  });
  expect(await get()).toEqual(made);
  const published = /^v=DKIM1; k=rsa; p=([A-Za-z0-9+/]+=*)$/.exec(made.dkim.value)?.[1] ?? '';
  const key = createPublicKey({ key: Buffer.from(published, 'base64'), format: 'der', type: 'spki' });
  expect(key.asymmetricKeyDetails).toMatchObject({ modulusLength: 2_048 });
  const stored = await findSender(pool, tenant.org.id);
  expect(stored?.private_key.toString('latin1')).not.toContain('PRIVATE KEY');
  // Of another organization it does not open.
  await pool.query({
    ...{
      name: '',
      text: `update mail_sender set status = 'verified', checked_at = created_at where org_id = $1`,
    },
    values: [tenant.org.id],
  });
  const { child } = await makeReseller('alpha-other');
  expect(await mailFromOf(pool, root_key, child.org.id)).toBeNull();
});

test('records count once both are published as they are, however the provider has broken them', async () => {
  const { put, verify, send } = await makeReseller('beta');
  const made = await put('beta.example');
  expect(await verify()).toMatchObject({
    status: 'pending',
    dkim: { verified: false },
    return_path: { verified: false },
  });
  names.zone.set(`TXT ${made.dkim.host}`, [
    'v=spf1 -all',
    made.dkim.value.replace(/p=.{20}/, 'p=AAAAAAAAAAAAAAAAAAAA'),
  ]);
  names.zone.set(`CNAME ${made.return_path.host}`, ['bounce.elsewhere.example']);
  expect(await verify()).toMatchObject({
    status: 'pending',
    dkim: { verified: false },
    return_path: { verified: false },
  });
  // Longer than one string of a record, and with the blanks that some providers add.
  names.zone.set(`TXT ${made.dkim.host}`, [
    made.dkim.value.replaceAll(/(.{60})/g, '$1 ').replaceAll('; ', ';'),
  ]);
  expect(await verify()).toMatchObject({
    status: 'pending',
    dkim: { verified: true },
    return_path: { verified: false },
  });
  names.zone.set(`CNAME ${made.return_path.host}`, ['Bounce.Gateway.Example']);
  const verified = await verify();
  expect(verified).toMatchObject({ status: 'verified', return_path: { verified: true } });
  expect(verified.checked_at).not.toBeNull();
  names.zone.set(`TXT ${made.dkim.host}`, 'fails');
  expect(codeOf(await send('POST', `${PATH}/verify`))).toBe('dns_unavailable');
  // A record that is gone for a moment takes nothing away at once.
  names.zone.delete(`TXT ${made.dkim.host}`);
  expect(await verify()).toMatchObject({ status: 'verified', dkim: { verified: false } });
});

test('mails of customers come from the sender, with a signature that holds for its key, its From and every byte', async () => {
  const reseller = await makeReseller('gamma');
  const { child, tenant } = reseller;
  const made = await reseller.put('gamma.example', 'hello');
  const before = await deliver(child.org.id);
  expect(before.mail.from?.address).toBe('billing@gateway.example');
  expect(verifiedSignature(before.raw, lookup)).toBeNull();
  publish(made);
  await reseller.verify();

  const { raw, from, mail } = await deliver(child.org.id);
  expect(mail.from?.address).toBe('hello@gamma.example');
  expect(from).toMatch(/^mail_[0-9a-z]{26}@bounce\.gamma\.example$/);
  expect(mail.messageId).toMatch(/^<mail_[0-9A-Z]{26}@gamma\.example>$/);
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  expect(head).not.toContain('gateway.example');
  const signature = verifiedSignature(raw, lookup);
  expect(signature).toMatchObject({ domain: 'gamma.example', selector: 'svc1' });
  expect(signature?.headers).toEqual(expect.arrayContaining(['from', 'to', 'subject', 'date', 'message-id']));
  for (const [what, forged] of [
    ['body', `${raw}more`],
    ['sender', raw.replace('hello@gamma.example', 'ceo@gamma.example')],
    ['subject', raw.replace(/^Subject: /im, 'Subject: Re: ')],
  ] as const)
    expect(verifiedSignature(forged, lookup), what).toBeNull();
  expect(verifiedSignature(raw, () => made.dkim.value.replace(/p=.*/, 'p='))).toBeNull();

  // The reseller's own people, those of others and mails about no organization.
  for (const other of [tenant.org.id, harness.a.org.id, null])
    expect((await deliver(other)).mail.from?.address).toBe('billing@gateway.example');
});

test('another PUT makes another key, and with the sender its key is gone', async () => {
  const reseller = await makeReseller('delta');
  const { child, tenant } = reseller;
  const first = await reseller.put('delta.example');
  publish(first);
  await reseller.verify();
  const old = await findSender(pool, tenant.org.id);
  if (old === null) throw new Error('no sender');
  const second = await reseller.put('delta.example');
  expect(second).toMatchObject({ status: 'pending', dkim: { verified: false } });
  expect(second.dkim.value).not.toBe(first.dkim.value);
  expect(await senderOf(child)).toBe('billing@gateway.example');
  // A look that began before the change says nothing of the new key.
  const found = { dkim_found: true, return_found: true };
  expect(
    await context.transaction((context) => noteFound(context, old, { found, is_daily: false })),
  ).toBeNull();
  expect(await reseller.verify()).toMatchObject({ status: 'pending', dkim: { verified: false } });
  publish(second);
  await reseller.verify();
  const { raw } = await deliver(child.org.id);
  expect(verifiedSignature(raw, () => second.dkim.value)).not.toBeNull();
  expect(verifiedSignature(raw, () => first.dkim.value)).toBeNull();

  expect((await reseller.send('DELETE')).statusCode).toBe(204);
  expect(codeOf(await reseller.send('DELETE'))).toBe('not_found');
  expect(await findSender(pool, tenant.org.id)).toBeNull();
  expect(await senderOf(child)).toBe('billing@gateway.example');
  const { rows } = await pool.query<{ action: string }>({
    ...{
      name: '',
      text: `select action from audit_entry where org_id = $1 and action like 'reseller.mail%' order by id`,
    },
    values: [tenant.org.id],
  });
  expect(rows.map(({ action }) => action.split('.')[2])).toEqual([
    'set',
    'verify',
    'set',
    'verify',
    'delete',
  ]);
});

test('a verified sender whose records are missing at two daily looks has failed, and is verified when they are back', async () => {
  const reseller = await makeReseller('epsilon');
  const { child, tenant } = reseller;
  const made = await reseller.put('epsilon.example');
  publish(made);
  await reseller.verify();
  let days = 0;
  const nextDay = async () => {
    shiftClock(++days * (DAY_MS + 60_000));
    while ((await recheckSenders(context, egress)) > 0);
    // People would have to sign in again.
    return (await findSender(pool, tenant.org.id))?.status;
  };
  const notices = async () => {
    const { rows } = await pool.query<{ count: number }>({
      ...{
        name: '',
        text: `select count(*)::int as count from mail where template = 'mail_sender_failed' and org_id = $1`,
      },
      values: [tenant.org.id],
    });
    return rows[0]?.count;
  };
  expect(await nextDay()).toBe('verified');
  names.zone.delete(`CNAME ${made.return_path.host}`);
  expect(await nextDay()).toBe('verified');
  expect(await recheckSenders(context, egress)).toBe(0);
  expect(await senderOf(child)).toBe('billing@epsilon.example');
  // Nobody answers: that is no miss.
  names.zone.set(`CNAME ${made.return_path.host}`, 'fails');
  expect(await nextDay()).toBe('verified');
  names.zone.delete(`CNAME ${made.return_path.host}`);
  expect([await nextDay(), await notices()]).toEqual(['failed', 1]);
  expect(await senderOf(child)).toBe('billing@gateway.example');
  expect([await nextDay(), await notices()]).toEqual(['failed', 1]);
  publish(made);
  expect(await nextDay()).toBe('verified');
  expect(await senderOf(child)).toBe('billing@epsilon.example');
  // One day without and one with it: the count begins anew.
  for (const gone of [true, false, true]) {
    if (gone) names.zone.delete(`TXT ${made.dkim.host}`);
    else publish(made);
    expect(await nextDay()).toBe('verified');
  }
});
