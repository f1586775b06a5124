// Mails over SMTP: what arrives, once; what a server that fails, refuses or goes away does to them.
import { generateKeyPairSync, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listRefused, releaseAddress, sendMail } from '@svc/core/mail/index.ts';
import { expect, test } from 'vitest';
import { startMailServer } from '../sim/mail.ts';
import { CONSOLE, present, startMailWorld } from './world.ts';

const world = await startMailWorld({ auth: { user: 'svc', pass: 'p@ss/of the server' } });
const { server } = world;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const low = (org = 'Acme') => ({ org, slug: 'acme', available: '$4.20', threshold: '$5.00' });
const to = (address: string) => server.received.filter((one) => one.to.includes(address));
let serial = 0;
const fresh = () => `case-${++serial}`;

test('a mail goes by TLS with text and HTML that say the same, from the configured sender, under its own id', async () => {
  const reference = fresh();
  expect(await world.ask({ template: 'low_balance', to: 'asha@acme.example', reference, data: low() })).toBe(
    1,
  );
  const sender = await world.sender();
  expect(await sender.run()).toBe(1);
  const [row] = await world.rows(reference);
  expect(row).toMatchObject({ status: 'sent', attempts: 1, answer: expect.stringContaining('250') });
  const [{ mail, secure, from }] = to('asha@acme.example') as [(typeof server.received)[0]];
  expect([secure, from]).toEqual([true, 'billing@gateway.example']);
  expect(mail).toMatchObject({
    subject: 'Acme has $4.20 of credits left',
    messageId: `<${row?.id}@gateway.example>`,
    from: { name: 'Acme Gateway', address: 'billing@gateway.example' },
  });
  for (const said of ['$4.20 of credits left', `${CONSOLE}/acme/live/credits`]) {
    expect(mail.text).toContain(said);
    expect(mail.html).toContain(said);
  }
  expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
});

test('a mail is asked for once per reference and address, and one whose cause is rolled back never goes', async () => {
  const reference = fresh();
  const mail = { template: 'low_balance', reference, data: low() } as const;
  expect(await world.ask({ ...mail, to: ['One@acme.example', 'two@acme.example', 'one@ACME.example'] })).toBe(
    2,
  );
  expect(await world.ask({ ...mail, to: ['one@acme.example', 'three@acme.example'] })).toBe(1);
  const undone = world.context.transaction(async (context) => {
    await sendMail(context, { ...mail, to: ['four@acme.example'], org_id: null, reference: 'undone' });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  const senders = [await world.sender(), await world.sender(), await world.sender()];
  await Promise.all(senders.map((sender) => sender.run()));
  expect(await world.rows('undone')).toEqual([]);
  for (const name of ['One', 'two', 'three']) expect(to(`${name}@acme.example`)).toHaveLength(1);
});

test('text that people typed is text: no header, no recipient, no markup comes of it', async () => {
  const reference = fresh();
  const org = 'Evil <b>&"corp"</b>';
  await world.ask({
    template: 'invitation',
    to: [
      'victim@acme.example',
      'x@acme.example\r\nBcc: all@acme.example',
      'a@acme.example, b@acme.example',
      '<c@acme.example>',
    ],
    reference,
    data: { org, inviter: 'mallory@evil.example', role: 'developer', expires_at: '2026-11-28T10:00:00.000Z' },
    link: '/invitations?token=t',
  });
  expect((await world.rows(reference)).map(({ recipient }) => recipient)).toEqual(['victim@acme.example']);
  await (await world.sender()).run();
  const [one] = to('victim@acme.example');
  expect(one?.to).toEqual(['victim@acme.example']);
  expect(one?.mail.subject).toBe(`mallory@evil.example invites you to ${org}`);
  expect(one?.mail.html).toContain('Evil &lt;b&gt;&amp;&quot;corp&quot;&lt;/b&gt;');
  expect(one?.mail.html).not.toContain('<b>');
  const broken = { ...low(), org: 'Acme\r\nBcc: all@acme.example' };
  await expect(
    world.ask({ template: 'low_balance', to: 'asha@acme.example', reference: fresh(), data: broken }),
  ).rejects.toThrow('not what it asks for');
});

test('a link with a token is in the mail alone: not in the row, not in a log, and sealed only until it has gone', async () => {
  const reference = fresh();
  const token = 'tok-4f1b8c6d2e';
  await world.ask({
    template: 'password_reset',
    to: 'forgetful@acme.example',
    reference,
    data: { expires_at: new Date(present() + 30 * MINUTE).toISOString() },
    link: `/reset?token=${token}`,
  });
  const all = async () =>
    JSON.stringify((await world.pool.query({ name: '', text: 'select mail::text as row from mail' })).rows);
  expect((await world.rows(reference))[0]?.sealed).not.toBeNull();
  expect(await all()).not.toContain(Buffer.from(token).toString('hex'));
  expect(await all()).not.toContain(token);
  server.turn({ data: '451 4.3.0 Later' });
  const sender = await world.sender();
  await sender.run();
  server.turn({ data: null });
  world.pass(2 * MINUTE);
  await sender.run();
  const [one] = to('forgetful@acme.example');
  expect(one?.mail.text).toContain(`${CONSOLE}/reset?token=${token}`);
  expect(one?.mail.html).toContain(`${CONSOLE}/reset?token=${token}`);
  expect((await world.rows(reference))[0]).toMatchObject({ status: 'sent', sealed: null });
  const lines = world.logged.join('\n');
  expect(lines).toContain('mail not sent');
  for (const secret of [token, 'p@ss', 'forgetful@']) expect(lines).not.toContain(secret);
});

test('a server that is busy or away delays a mail, later each time; it goes once, under the same id', async () => {
  const reference = fresh();
  await world.ask({ template: 'low_balance', to: 'patient@acme.example', reference, data: low() });
  const sender = await world.sender();
  server.turn({ recipient: () => '450 4.2.1 Greylisted' });
  await sender.run();
  const first = (await world.rows(reference))[0]!;
  expect(first).toMatchObject({ status: 'queued', attempts: 1, answer: '450 4.2.1 Greylisted' });
  expect(first.next_at.getTime() - present()).toBeLessThanOrEqual(66_000);
  server.turn({ recipient: () => null });
  expect(await sender.run()).toBe(0);
  world.pass(2 * MINUTE);
  await server.stop();
  await sender.run();
  const second = (await world.rows(reference))[0]!;
  expect(second).toMatchObject({ status: 'queued', attempts: 2 });
  expect(second.next_at.getTime() - present()).toBeGreaterThan(4 * MINUTE);
  await server.start();
  world.pass(6 * MINUTE);
  await sender.run();
  expect(await world.rows(reference)).toMatchObject([{ status: 'sent', attempts: 3 }]);
  expect(to('patient@acme.example')).toHaveLength(1);
});

test('an answer that is lost brings a second copy, the same to the byte but for boundaries, with one Message-ID', async () => {
  const reference = fresh();
  await world.ask({ template: 'low_balance', to: 'twice@acme.example', reference, data: low() });
  const sender = await world.sender();
  server.turn({ loses_answer: true });
  await sender.run();
  server.turn({ loses_answer: false });
  expect(await world.rows(reference)).toMatchObject([{ status: 'queued' }]);
  world.pass(2 * MINUTE);
  await sender.run();
  const copies = to('twice@acme.example').map(({ mail }) => [
    mail.messageId,
    mail.date,
    mail.text,
    mail.html,
  ]);
  expect(copies).toHaveLength(2);
  expect(copies[0]).toEqual(copies[1]);
  expect(await world.rows(reference)).toMatchObject([{ status: 'sent', attempts: 2 }]);
});

test('a sender that dies holding a mail loses it to another when its lease lapses, and notes nothing after that', async () => {
  const reference = fresh();
  await world.ask({ template: 'low_balance', to: 'leased@acme.example', reference, data: low() });
  const { promise: stuck, resolve: release } = Promise.withResolvers<string>();
  const slow = await world.sender({}, { transport: { send: () => stuck, close: async () => {} } });
  const running = slow.run();
  await expect.poll(() => world.rows(reference)).toMatchObject([{ status: 'sending' }]);
  const other = await world.sender();
  expect(await other.run()).toBe(0);
  await world.pool.query({
    name: '',
    text: `update mail set lease_until = clock_timestamp() - interval '1 second' where reference = $1`,
    values: [reference],
  });
  expect(await other.run()).toBe(1);
  release('250 late');
  await running;
  expect([...slow.outcomes]).toEqual([['lost', 1]]);
  expect(await world.rows(reference)).toMatchObject([{ status: 'sent', attempts: 2 }]);
  expect(to('leased@acme.example')).toHaveLength(1);
});

test('an address that the server does not know is not tried again, until staff take it out', async () => {
  const [first, second, third] = [fresh(), fresh(), fresh()];
  const mail = { template: 'low_balance', to: 'Gone@acme.example', data: low() } as const;
  server.turn({ recipient: (address) => (address.startsWith('Gone') ? '550 5.1.1 No such user' : null) });
  const sender = await world.sender();
  await world.ask({ ...mail, reference: first });
  await sender.run();
  server.turn({ recipient: () => null });
  await world.ask({ ...mail, reference: second });
  await sender.run();
  expect(await world.rows(first)).toMatchObject([{ status: 'failed', answer: '550 5.1.1 No such user' }]);
  expect(await world.rows(second)).toMatchObject([{ status: 'dropped', attempts: 0 }]);
  expect(await listRefused(world.pool, 10)).toMatchObject([
    { recipient_key: 'gone@acme.example', cause: 'refused', answer: '550 5.1.1 No such user' },
  ]);
  expect(await releaseAddress(world.pool, 'gone@acme.example')).toBe(true);
  await world.ask({ ...mail, reference: third });
  await sender.run();
  expect(await world.rows(third)).toMatchObject([{ status: 'sent' }]);
});

test('what is our fault (sign-in, sender, relaying) keeps mails waiting and blames no address', async () => {
  const reference = fresh();
  await world.ask({ template: 'low_balance', to: 'innocent@acme.example', reference, data: low() });
  server.turn({ sender: '550 5.1.8 Sender unknown' });
  const sender = await world.sender();
  await sender.run();
  server.turn({ sender: null, recipient: () => '554 5.7.1 Relay access denied' });
  world.pass(2 * MINUTE);
  await sender.run();
  server.turn({ recipient: () => null });
  world.pass(6 * MINUTE);
  const wrong = await world.sender({ SVC_SMTP_URL: `smtp://svc:wrong@127.0.0.1:${server.port}` });
  await wrong.run();
  expect(await world.rows(reference)).toMatchObject([{ status: 'queued', attempts: 3 }]);
  world.pass(20 * MINUTE);
  await sender.run();
  expect(await world.rows(reference)).toMatchObject([{ status: 'sent', attempts: 4 }]);
  expect(await listRefused(world.pool, 10)).toEqual([]);
});

test('twenty courtesies a day reach one address, counted over all senders; the others wait for the day to pass', async () => {
  const references = Array.from({ length: 26 }, fresh);
  for (const reference of references)
    await world.ask({
      template: 'webhook_disabled',
      to: 'flooded@acme.example',
      reference,
      data: { org: 'Acme', slug: 'acme', webhook_id: 'wh_1', url: 'https://hooks.example', reason: 'gone' },
    });
  const senders = [await world.sender(), await world.sender(), await world.sender()];
  for (let round = 0; round < 3; round++) await Promise.all(senders.map((sender) => sender.run()));
  expect(to('flooded@acme.example')).toHaveLength(20);
  const waiting = await Promise.all(references.map((reference) => world.rows(reference)));
  expect(waiting.flat().filter(({ status }) => status === 'queued')).toHaveLength(6);
  world.pass(24 * HOUR + MINUTE);
  await senders[0]?.run();
  expect(to('flooded@acme.example')).toHaveLength(26);
});

test('what an address is owed goes whatever number it had that day, and takes nothing from its courtesies', async () => {
  const to_many = (template: 'webhook_disabled' | 'topup_failed', data: never) =>
    Promise.all(
      Array.from({ length: 25 }, () =>
        world.ask({ template, to: 'busy@acme.example', reference: fresh(), data }),
      ),
    );
  const failed = {
    ...{ org: 'Acme', slug: 'acme', total: '$50.00', reason: 'No money.', consecutive_failures: 1 },
    topup_id: 'tup_1',
  };
  const off = { org: 'Acme', slug: 'acme', webhook_id: 'wh_1', url: 'https://hooks.example', reason: 'gone' };
  await to_many('topup_failed', failed as never);
  const sender = await world.sender();
  await sender.run();
  await to_many('webhook_disabled', off as never);
  await to_many('topup_failed', failed as never);
  await sender.run();
  const subjects = to('busy@acme.example').map(({ mail }) => mail.subject);
  expect(subjects.filter((subject) => subject === 'The payment of $50.00 failed')).toHaveLength(50);
  expect(subjects).toHaveLength(70);
});

test('what cannot be sent while it is of use is dropped, its link with it', async () => {
  const reference = fresh();
  await world.ask({
    template: 'password_reset',
    to: 'late@acme.example',
    reference,
    data: { expires_at: new Date(present() + 30 * MINUTE).toISOString() },
    link: '/reset?token=t',
  });
  world.pass(31 * MINUTE);
  await (await world.sender()).run();
  expect(await world.rows(reference)).toMatchObject([{ status: 'dropped', sealed: null, attempts: 0 }]);
  expect(to('late@acme.example')).toEqual([]);
});

test('a server that cannot change to TLS gets nothing where TLS is required', async () => {
  const plain = await startMailServer({ tls: false });
  const reference = fresh();
  await world.ask({ template: 'low_balance', to: 'careful@acme.example', reference, data: low() });
  await (await world.sender({ SVC_SMTP_URL: `smtp://127.0.0.1:${plain.port}?tls=required` })).run();
  expect(plain.received).toEqual([]);
  expect(await world.rows(reference)).toMatchObject([{ status: 'queued' }]);
  world.pass(2 * MINUTE);
  await (await world.sender({ SVC_SMTP_URL: `smtp://127.0.0.1:${plain.port}?tls=optional` })).run();
  expect(plain.received).toHaveLength(1);
});

/** The canonical form of a header or of a body, `relaxed` (RFC 6376 3.4). */
const relaxedHeader = (line: string) => {
  const at = line.indexOf(':');
  const value = line
    .slice(at + 1)
    .replaceAll(/\r\n/g, '')
    .replaceAll(/[ \t]+/g, ' ')
    .trim();
  return `${line.slice(0, at).toLowerCase()}:${value}`;
};

test('with a key mails carry a DKIM signature that its public half verifies, and bounces come to an address of the mail', async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const path = join(world.data_dir, 'dkim.pem');
  writeFileSync(path, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const reference = fresh();
  await world.ask({ template: 'low_balance', to: 'signed@acme.example', reference, data: low() });
  const env = {
    SVC_MAIL_DKIM_KEY_FILE: path,
    SVC_MAIL_DKIM_SELECTOR: 's2',
    SVC_MAIL_DOMAIN: 'gateway.example',
  };
  await (await world.sender(env)).run();
  const [row] = await world.rows(reference);
  const [one] = to('signed@acme.example');
  expect(one?.from).toBe(`${row?.id.toLowerCase()}@bounce.gateway.example`);
  const [head = ''] = (one?.raw ?? '').split('\r\n\r\n');
  const lines = head.split(/\r\n(?![ \t])/);
  const signature = lines.find((line) => /^dkim-signature:/i.test(line)) ?? '';
  const tag = (name: string) =>
    new RegExp(`[;\\s]${name}=([^;]*)`).exec(signature)?.[1]?.replaceAll(/\s/g, '') ?? '';
  expect([tag('d'), tag('s')]).toEqual(['gateway.example', 's2']);
  const signed = tag('h')
    .split(':')
    .map((name) => lines.find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`)) ?? '');
  expect(tag('h').toLowerCase().split(':')).toEqual(
    expect.arrayContaining(['from', 'to', 'subject', 'message-id']),
  );
  const bare = signature.replace(/([;\s]b=)[^;]*/, '$1');
  const text = [...signed.filter((line) => line !== '').map(relaxedHeader), relaxedHeader(bare)].join('\r\n');
  expect(verify('sha256', Buffer.from(text), pair.publicKey, Buffer.from(tag('b'), 'base64'))).toBe(true);
});

test('a file goes with a mail', async () => {
  const reference = fresh();
  await world.ask({
    template: 'invoice',
    to: 'books@acme.example',
    reference,
    data: {
      org: 'Acme',
      slug: 'acme',
      number: 'INV/26-27/00001',
      kind: 'invoice',
      total: '₹1,180.00',
      issued_at: '2026-11-21T10:00:00.000Z',
      original_number: null,
    },
    attachments: [{ kind: 'invoice_pdf', id: 'inv_1' }],
  });
  await (await world.sender()).run();
  const [file] = to('books@acme.example')[0]?.mail.attachments ?? [];
  expect([file?.filename, file?.mimeType]).toEqual(['inv_1.pdf', 'application/pdf']);
  expect(Buffer.from(file?.content as ArrayBuffer).toString()).toBe('%PDF-1.7 of a test');
});
