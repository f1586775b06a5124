// Mails about money that came in or went back. Amounts are given as people of their currency write them.
import { Type } from 'typebox';
import { lineOf, nullable, TimeIn } from '../../kernel/index.ts';
import { action, dateText, facts, text, timeText } from '../content.ts';
import { DAY, DAYS_3, template } from './define.ts';

const org = lineOf(200);
const slug = lineOf(40);
/** Number of the document of the payment; mails asked for before it was given have only the id. */
const invoice_number = Type.Optional(nullable(lineOf(40)));
const money = lineOf(40);
const id = lineOf(60);
const billing = (name: string) => `because documents of ${name} go to this address`;
const capitalized = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1);
const credits = (slug: string) => `/${slug}/live/credits`;

const receipt = template({
  data: Type.Object({
    org,
    slug,
    number: lineOf(40),
    amount: money,
    tax: money,
    total: money,
    credits: money,
    topup_id: id,
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    number: 'INV/26-27/00001',
    amount: '₹1,000.00',
    tax: '₹180.00',
    total: '₹1,180.00',
    credits: '$11.10',
    topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  },
  lives_hours: DAYS_3,
  duty: 'law',
  content: (d) => ({
    subject: `Receipt ${d.number}`,
    preview: `We have received ${d.total}.`,
    title: `We have received ${d.total}`,
    blocks: [
      text(`Thank you. ${d.credits} of credits were added to ${d.org}.`),
      facts({ Document: d.number, Credits: d.amount, Tax: d.tax, Total: d.total, Reference: d.topup_id }),
      action('See your credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const invoice = template({
  data: Type.Object({
    org,
    slug,
    number: lineOf(40),
    kind: Type.Union([Type.Literal('invoice'), Type.Literal('credit note'), Type.Literal('receipt')]),
    total: money,
    issued_at: TimeIn,
    original_number: nullable(lineOf(40)),
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    number: 'INV/26-27/00001',
    kind: 'invoice',
    total: '₹1,180.00',
    issued_at: '2026-11-21T10:00:00.000Z',
    original_number: null,
  },
  lives_hours: DAYS_3,
  duty: 'law',
  content: (d) => ({
    subject: `${capitalized(d.kind)} ${d.number}`,
    preview: `${d.total}, ${dateText(d.issued_at)}.`,
    title: `Your ${d.kind} ${d.number}`,
    blocks: [
      text(`The ${d.kind} is attached as a PDF. It was issued for ${d.org} and needs no signature.`),
      facts({
        Number: d.number,
        'Corrects invoice': d.original_number,
        Date: dateText(d.issued_at),
        Total: d.total,
      }),
      action('See all documents', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const refund_completed = template({
  data: Type.Object({
    org,
    slug,
    total: money,
    credits: money,
    refund_id: id,
    topup_id: id,
    invoice_number,
    credit_note: nullable(lineOf(40)),
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    total: '$10.00',
    credits: '$10.00',
    refund_id: 'rfd_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    invoice_number: 'INV/26-27/00001',
    credit_note: 'INVC/26-27/00001',
  },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `Refund of ${d.total}`,
    preview: 'The money is on its way to the account or card that paid.',
    title: `We have refunded ${d.total}`,
    blocks: [
      text(`The money goes back to the account or card that paid. Banks take up to ten days to show it.`),
      facts({
        Refunded: d.total,
        'Credits taken back': d.credits,
        'Credit note': d.credit_note,
        Refund: d.refund_id,
        Payment: d.invoice_number ?? d.topup_id,
      }),
      action('See your credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const refund_failed = template({
  data: Type.Object({ org, slug, total: money, credits: money, refund_id: id, invoice_number }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    total: '$10.00',
    credits: '$10.00',
    refund_id: 'rfd_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    invoice_number: 'INV/26-27/00001',
  },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `The refund of ${d.total} did not go through`,
    preview: `${d.credits} of credits are back on your balance.`,
    title: `The refund of ${d.total} did not go through`,
    blocks: [
      text(
        `The bank refused it. ${d.credits} of credits are back on the balance of ${d.org}, and nothing was lost.`,
      ),
      facts({
        Payment: d.invoice_number ?? null,
        Refund: d.refund_id,
        'Credits given back': d.credits,
      }),
      action('See your credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const debit_notice = template({
  data: Type.Object({
    org,
    slug,
    total: money,
    method: lineOf(40),
    earliest_at: TimeIn,
    threshold: money,
    topup_id: id,
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    total: '₹5,900.00',
    method: 'UPI',
    earliest_at: '2026-11-22T10:00:00.000Z',
    threshold: '$20.00',
    topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  },
  lives_hours: DAY,
  duty: 'law',
  secret: true,
  content: (d, link) => ({
    subject: `${d.total} will be debited after ${dateText(d.earliest_at)}`,
    preview: 'Automatic top-up. You can skip this one.',
    title: `We will debit ${d.total}`,
    blocks: [
      text(`The balance of ${d.org} fell below ${d.threshold}, so its automatic top-up buys credits again.`),
      facts({
        Amount: d.total,
        From: d.method,
        'Not before': timeText(d.earliest_at),
        Reference: d.topup_id,
      }),
      text('You need not do anything. To keep this debit from being made, skip it before that time:'),
      action('Skip this debit', link),
    ],
    reason: `because ${d.org} has automatic top-up switched on`,
  }),
});

const topup_failed = template({
  data: Type.Object({
    org,
    slug,
    total: money,
    reason: lineOf(300),
    consecutive_failures: Type.Integer({ minimum: 0 }),
    topup_id: id,
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    total: '$50.00',
    reason: 'The card has insufficient funds.',
    consecutive_failures: 1,
    topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `The payment of ${d.total} failed`,
    preview: d.reason,
    title: `The payment of ${d.total} failed`,
    blocks: [
      text(`Nothing was debited and no credits were added to ${d.org}.`),
      facts({
        Reason: d.reason,
        Amount: d.total,
        Reference: d.topup_id,
        'Failed in a row': d.consecutive_failures > 1 ? String(d.consecutive_failures) : null,
      }),
      action('Add credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const auto_topup_disabled = template({
  data: Type.Object({ org, slug, reason: lineOf(300) }),
  sample: { org: 'Acme', slug: 'acme', reason: 'Three payments in a row failed.' },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `Automatic top-up of ${d.org} is off`,
    preview: d.reason,
    title: 'Automatic top-up is off',
    blocks: [
      text(
        `${d.reason} Until it is switched on again, ${d.org} buys no credits by itself, and calls stop when they are used up.`,
      ),
      action('Check the payment method', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const dispute_opened = template({
  data: Type.Object({ org, slug, amount: money, topup_id: id, invoice_number, respond_by: nullable(TimeIn) }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    amount: '$50.00',
    topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    invoice_number: 'INV/26-27/00001',
    respond_by: '2026-12-01T00:00:00.000Z',
  },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `A payment of ${d.amount} was disputed`,
    preview: 'The credits of this payment are held until the bank has decided.',
    title: `A payment of ${d.amount} was disputed`,
    blocks: [
      text(
        `The holder of the account or card told the bank not to accept this payment. Its unused credits are held until the bank has decided.`,
      ),
      facts({
        Payment: d.invoice_number ?? d.topup_id,
        Amount: d.amount,
        'Decided after': d.respond_by === null ? null : dateText(d.respond_by),
      }),
      text('If this was a mistake, ask the bank to withdraw the dispute.'),
      action('See your credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const dispute_closed = template({
  data: Type.Object({
    org,
    slug,
    amount: money,
    topup_id: id,
    invoice_number,
    outcome: Type.Union([Type.Literal('won'), Type.Literal('lost')]),
    // Credits of a lost payment that had been spent.
    loss: nullable(money),
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    amount: '$50.00',
    topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    invoice_number: 'INV/26-27/00001',
    outcome: 'lost',
    loss: '$12.00',
  },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `The dispute about ${d.amount} has ended`,
    preview: d.outcome === 'won' ? 'Its credits are back.' : 'Its credits were taken back.',
    title: `The dispute about ${d.amount} has ended`,
    blocks: [
      text(
        d.outcome === 'won'
          ? `The payment stands, and the credits that were held are back on the balance of ${d.org}.`
          : `The bank gave the money back to the payer. The credits that were held are gone from the balance of ${d.org}.`,
      ),
      ...(d.loss === null
        ? []
        : [
            text(
              `Of its credits ${d.loss} had been spent. Until this is paid, calls of ${d.org} are refused: write to us.`,
            ),
          ]),
      facts({ Payment: d.invoice_number ?? d.topup_id, Amount: d.amount, 'Spent credits': d.loss }),
      action('See your credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

export const moneyMails = {
  receipt,
  invoice,
  refund_completed,
  refund_failed,
  debit_notice,
  topup_failed,
  auto_topup_disabled,
  dispute_opened,
  dispute_closed,
};
