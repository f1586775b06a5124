// Reports of mails that could not be delivered (RFC 3464), as mail servers write them.
import { listRefused, readBounce, takeBounce } from '@svc/core/mail/index.ts';
import { expect, test } from 'vitest';
import { startMailWorld } from './world.ts';

const world = await startMailWorld();
const low = { org: 'Acme', slug: 'acme', available: '$4.20', threshold: '$5.00' };
let serial = 0;

/** A mail that was sent. */
async function sent(address: string) {
  const reference = `bounce-${++serial}`;
  await world.ask({ template: 'low_balance', to: address, reference, data: low });
  await (await world.sender({ SVC_MAIL_DOMAIN: 'gateway.example' })).run();
  const [row] = await world.rows(reference);
  expect(row?.status).toBe('sent');
  return { reference, id: row!.id };
}

interface Facts {
  readonly to: string;
  readonly action?: string;
  readonly status?: string;
  readonly message_id?: string;
  readonly type?: string;
}

/** A report in the form of Postfix. */
const report = ({
  to,
  action = 'failed',
  status = '5.1.1',
  message_id = '<x@elsewhere.example>',
  type = 'message/delivery-status',
}: Facts) =>
  Buffer.from(
    [
      'From: MAILER-DAEMON@mx.acme.example',
      `To: ${to}`,
      'Subject: Undelivered Mail Returned to Sender',
      'MIME-Version: 1.0',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
      '',
      '--B',
      'Content-Type: text/plain; charset=us-ascii',
      '',
      'I am sorry to have to inform you that your message could not be delivered.',
      '',
      '--B',
      `Content-Type: ${type}`,
      '',
      'Reporting-MTA: dns; mx.acme.example',
      '',
      'Final-Recipient: rfc822; gone@acme.example',
      `Action: ${action}`,
      `Status: ${status}`,
      'Diagnostic-Code: smtp; 550 5.1.1 <gone@acme.example>: Recipient address',
      '    rejected: User unknown',
      '',
      '--B',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: ${message_id}`,
      'Subject: Acme has $4.20 of credits left',
      '',
      '--B--',
      '',
    ].join('\r\n'),
  );

const take = async (facts: Facts) => {
  const found = await readBounce(report(facts));
  return found === null ? null : takeBounce(world.pool, found);
};

test('a report to the address of a mail marks it as bounced, and nothing more goes to its address', async () => {
  const { id, reference } = await sent('gone@acme.example');
  const to = `${id.toLowerCase()}@bounce.gateway.example`;
  expect(await take({ to })).toBe(true);
  expect(await world.rows(reference)).toMatchObject([{ status: 'bounced' }]);
  expect(await listRefused(world.pool, 10)).toMatchObject([
    {
      recipient_key: 'gone@acme.example',
      cause: 'bounced',
      mail_id: id,
      answer: '5.1.1 550 5.1.1 <gone@acme.example>: Recipient address rejected: User unknown',
    },
  ]);
  await world.ask({ template: 'low_balance', to: 'Gone@ACME.example', reference: 'after', data: low });
  await (await world.sender()).run();
  expect(await world.rows('after')).toMatchObject([{ status: 'dropped' }]);
});

test('a report that comes to the sender names its mail by the headers of the original', async () => {
  const { id, reference } = await sent('moved@acme.example');
  expect(await take({ to: 'billing@gateway.example', message_id: `<${id}@gateway.example>` })).toBe(true);
  expect(await world.rows(reference)).toMatchObject([{ status: 'bounced' }]);
});

test('a delay, a success, a report of nobody, and what is no report change nothing', async () => {
  const { id, reference } = await sent('slow@acme.example');
  const to = `${id}@bounce.gateway.example`;
  expect(await take({ to, action: 'delayed', status: '4.4.1' })).toBe(false);
  expect(await take({ to, action: 'delivered', status: '2.0.0' })).toBe(false);
  expect(await take({ to, type: 'text/plain' })).toBe(null);
  expect(await take({ to: 'mail_00000000000000000000000000@bounce.gateway.example' })).toBe(false);
  expect(await take({ to: 'billing@gateway.example' })).toBe(null);
  expect(await readBounce(Buffer.from('not a mail at all'))).toBe(null);
  expect(await readBounce(Buffer.alloc(2_000_000, 'To: x\r\n'))).toBe(null);
  expect(await world.rows(reference)).toMatchObject([{ status: 'sent' }]);
});

test('a report about a mail that still waits changes nothing', async () => {
  await world.ask({ template: 'low_balance', to: 'waiting@acme.example', reference: 'waiting', data: low });
  const [row] = await world.rows('waiting');
  expect(await take({ to: `${row?.id}@bounce.gateway.example` })).toBe(false);
  expect(await world.rows('waiting')).toMatchObject([{ status: 'queued' }]);
});
