// Mails of documents: asked for with a credit note, asked for again by people, and what arrives.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { type Invoice, issueCreditNote } from '@svc/core/invoices/index.ts';
import { resendInvoice } from '@svc/core/invoices/sending.ts';
import { type Id, newId } from '@svc/core/kernel/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';
import { makeTopup } from '../registry/topup-rows.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir, startGatewayProcess } from '../support/gateway.ts';
import { provision } from '../support/provision.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const org = await world.org('IN', { gstin: '27AAPFU0939F1ZV' });
const NO_TAX = { cgst_minor: 0, sgst_minor: 0, igst_minor: 0 };

interface MailRow {
  readonly recipient: string;
  readonly attachments: object;
  readonly data: object;
}

const mailsOf = (id: string) =>
  world.rows<MailRow>(
    `select recipient, attachments, data from mail where template = 'invoice' and starts_with(reference, $1)`,
    [id],
  );
const again = (invoice: Invoice, to: string | null = null, at = world.context) =>
  resendInvoice(at, { org_id: invoice.org_id, id: invoice.id, to });

test('a credit note is mailed with its file when it is issued, and not when the refund is rolled back', async () => {
  const original = await world.issue(org);
  const refund = {
    invoice_id: original.id as Id<'invoice'>,
    org_id: org.id,
    ...{ refund_id: newId('refund'), amount_minor: 1_000, tax: NO_TAX, credits_micro: 1, payment_ref: null },
  };
  const rolled = world.context.transaction(async (context) => {
    await issueCreditNote(context, refund);
    throw new Error('rolled back');
  });
  await expect(rolled).rejects.toThrow('rolled back');
  const note = await world.context.transaction((context) => issueCreditNote(context, refund));
  expect(await mailsOf(note.id)).toEqual([
    {
      recipient: expect.stringMatching(/@example\.com$/),
      attachments: [{ kind: 'invoice_pdf', id: note.id }],
      data: expect.objectContaining({
        ...{ kind: 'credit note', number: note.number, original_number: original.number, total: '₹10.00' },
      }),
    },
  ]);
  expect(await world.rows(`select id from mail where reference like 'cn_%'`)).toHaveLength(1);
});

test('of twenty who ask at once for a document ten get it, and tomorrow it can be asked for again', async () => {
  const [one, other] = [await world.issue(org), await world.issue(org)];
  const asked = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => again(one, `reader-${i % 2}@example.com`)),
  );
  const refused = asked.filter((ask) => ask.status === 'rejected');
  expect(refused.map(({ reason }) => reason.code)).toEqual(Array(10).fill('rate_limit_exceeded'));
  expect(await mailsOf(one.id)).toHaveLength(10);
  await again(other);
  const tomorrow = world.at(new Date(Date.now() + 86_400_001).toISOString());
  await again(one, null, tomorrow);
  expect(await mailsOf(one.id)).toHaveLength(11);
});

test('without an address a document goes where documents go; with nobody there it is refused', async () => {
  const silent = await world.org('IN', { billing_address: { state_code: '29' }, billing_email: null });
  const invoice = await world.issue(silent);
  await expect(again(invoice)).rejects.toMatchObject({ code: 'conflict', param: 'to' });
  expect(await again(invoice, 'books@example.com')).toEqual({ to: ['books@example.com'] });
});

test('who may not manage credits, whose document it is not, and what is no address: refused, nothing is sent', async () => {
  const harness = await startHarness({ url: world.url });
  const [ours, theirs] = [await harness.makeTenant('ours'), await harness.makeTenant('theirs')];
  const { invoice_id } = await makeTopup(world.context, ours);
  const path = `/v1/invoices/${invoice_id}/resend`;
  const post = (key: string, body: object) => harness.call('POST', path, { key, body });
  expect((await post(theirs.key, { to: 'x@example.com' })).statusCode).toBe(404);
  const reader = await harness.makeKey(ours, { scopes: ['read:credits', 'inference'] });
  const unscoped = await post(reader.secret, { to: 'x@example.com' });
  expect([unscoped.statusCode, unscoped.json().error.code]).toEqual([403, 'permission_denied']);
  for (const to of [
    'nobody',
    'a@b@c',
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: b@example.com',
  ]) {
    const reply = await post(ours.key, { to });
    expect([reply.statusCode, reply.json().error.param]).toEqual([400, 'to']);
  }
  expect(await mailsOf(invoice_id)).toEqual([]);
  expect((await post(ours.key, { to: 'x@example.com' })).json()).toEqual({
    queued: true,
    to: 'x@example.com',
  });
  expect(await mailsOf(invoice_id)).toHaveLength(1);
});

test('what arrives has the file that everybody gets, and the document knows when it went', async () => {
  const made = await provision({ database_url: world.url, live_micro_usd: 0 });
  const payer = (await findOrg(world.pool, made.org_id)) as Org;
  const { id: invoice_id } = await world.issue(payer);
  const data_dir = freshDataDir();
  const gateway = await startGatewayProcess({ database_url: world.url, port: await freePort(), data_dir });
  atFileEnd(() => gateway.stop());
  const headers = { authorization: `Bearer ${made.live_key}`, 'content-type': 'application/json' };
  const at = `${gateway.base_url}/v1/invoices/${invoice_id}`;
  const body = JSON.stringify({ to: 'books@example.com' });
  const reply = await fetch(`${at}/resend`, { method: 'POST', headers, body });
  expect(await reply.json()).toEqual({ queued: true, to: 'books@example.com' });
  const read = async () => (await (await fetch(at, { headers })).json()) as Record<string, string | null>;
  await expect.poll(async () => (await read())['sent_at'], { timeout: 60_000 }).not.toBeNull();
  const pdf = Buffer.from(await (await fetch(`${at}/pdf`, { headers })).arrayBuffer());
  const mails = readdirSync(join(data_dir, 'mail')).filter((name) => name.includes(invoice_id));
  expect(mails).toHaveLength(1);
  const mail = await PostalMime.parse(readFileSync(join(data_dir, 'mail', mails[0] as string)));
  const { number } = await read();
  expect(mail.subject).toContain(number);
  const [file] = mail.attachments;
  expect(file).toMatchObject({
    filename: `${number?.replaceAll('/', '-')}.pdf`,
    mimeType: 'application/pdf',
  });
  expect(Buffer.from(file?.content as ArrayBuffer).equals(pdf)).toBe(true);
}, 120_000);
