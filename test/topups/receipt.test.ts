// The receipt of a paid top-up: to whom it goes, what it says, and that it is asked for once.
import { createPerson } from '@svc/core/identity/index.ts';
import { DEMO_SUPPLIER, setSupplier } from '@svc/core/invoices/index.ts';
import { type Id, newRequestId } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { setBilling } from '@svc/core/orgs/index.ts';
import { receiptMail } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { events, eventsA, startWorld } from './world.ts';

const world = await startWorld();
const { context, read, rows } = world;
let serial = 0;
const fresh = async () => world.topup(await world.org(`org-${++serial}`));

afterEach(() => world.expectRight());

test('the receipt is asked for once, to the billing address, else to the owners, and names the document', async () => {
  const topup = await fresh();
  const args = { topup_id: topup.id };
  expect(await receiptMail(context, args)).toEqual({ queued: false, reason: 'not_paid' });
  await world.deliver(events.completed(topup));
  const asked = await Promise.all([receiptMail(context, args), receiptMail(context, args)]);
  expect(asked.filter(({ queued }) => queued)).toHaveLength(1);
  expect(await receiptMail(context, args)).toEqual({ queued: false, reason: 'queued_before' });
  const mails = async (id: Id<'topup'>) => {
    const { invoice_id } = await read(id);
    const of = `select template, recipient, attachments, data from mail where reference = $1`;
    return rows<{ template: string; recipient: string; attachments: object; data: object }>(of, [invoice_id]);
  };
  const { invoice_number: number, invoice_id } = await read(topup.id);
  expect(await mails(topup.id)).toEqual([
    {
      template: 'receipt',
      recipient: `org-${serial}@example.com`,
      attachments: [{ kind: 'invoice_pdf', id: invoice_id }],
      data: {
        ...{ org: `org-${serial}`, slug: `org-${serial}`, number, topup_id: topup.id },
        ...{ amount: '$25.00', tax: '$0.00', total: '$25.00', credits: '$25.00' },
      },
    },
  ]);
  const second = await fresh();
  await rows('update org set billing_email = null where id = $1', [second.org_id]);
  await world.deliver(events.completed(second));
  expect(await receiptMail(context, { topup_id: second.id })).toEqual({
    queued: false,
    reason: 'no_recipient',
  });
  for (const role of ['owner', 'billing'] as const) {
    await createPerson(context, { email: `${role}@late.example`, org_id: second.org_id, role });
  }
  expect(await receiptMail(context, { topup_id: second.id })).toEqual({ queued: true, reason: '' });
  expect(await mails(second.id)).toMatchObject([{ recipient: 'owner@late.example' }]);
});

test('while its document has to be registered a receipt goes without a file: the document is mailed when it is', async () => {
  const staff = createContext({
    ...{ request_id: newRequestId(), pool: world.pool, log: context.log, services: context.services },
    caller: { kind: 'staff', name: 'tests', staff_id: null, roles: ['super'] },
  });
  const { legal_name, address, gstin } = DEMO_SUPPLIER;
  await setSupplier(staff, { legal_name, address, gstin, e_invoicing: true });
  const org = await world.indian(`org-${++serial}`);
  const business = { gstin: '29AABCU9603R1ZJ', tax_status: 'gst_registered' } as const;
  await setBilling(world.pool, { org_id: org.id, at: new Date(), ...business });
  const topup = await world.topup(org);
  await world.deliverA(eventsA.captured(topup));
  await rows(`delete from settings where name = 'supplier'`);
  const receipt = await receiptMail(context, { topup_id: topup.id });
  const { invoice_id } = await read(topup.id);
  const [document] = await rows('select irn_status from invoice where id = $1', [invoice_id]);
  expect([receipt.queued, document]).toEqual([true, { irn_status: 'pending' }]);
  const of = 'select template, attachments from mail where reference = $1';
  expect(await rows(of, [invoice_id])).toEqual([{ template: 'receipt', attachments: [] }]);
});

test('a receipt whose document went out before is not asked for again', async () => {
  const topup = await fresh();
  await world.deliver(events.completed(topup));
  const { invoice_id } = await read(topup.id);
  await rows('update invoice set sent_at = $2 where id = $1', [invoice_id, new Date()]);
  expect(await receiptMail(context, { topup_id: topup.id })).toEqual({
    ...{ queued: false, reason: 'queued_before' },
  });
  expect(await rows('select 1 from mail where reference = $1', [invoice_id])).toEqual([]);
});
