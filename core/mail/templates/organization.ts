// Mails to the people of an organization about what it has set up, and about its end.
import { Type } from 'typebox';
import { lineOf, nullable, TimeIn } from '../../kernel/index.ts';
import { action, dateText, facts, text, timeText } from '../content.ts';
import { DAY, DAYS_3, template } from './define.ts';

const org = lineOf(200);
const slug = lineOf(40);
const leading = (name: string) => `because you are an owner or admin of ${name}`;

const switchedOff = {
  gone: 'it answered 410 Gone',
  failing: 'every delivery to it has failed for five days',
} as const;

const webhook_disabled = template({
  data: Type.Object({
    org,
    slug,
    webhook_id: lineOf(60),
    url: lineOf(2_048),
    reason: Type.Union([Type.Literal('gone'), Type.Literal('failing')]),
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    webhook_id: 'wh_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    url: 'https://hooks.acme.example/svc',
    reason: 'failing',
  },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  content: (d) => ({
    subject: 'A webhook endpoint was switched off',
    preview: d.url,
    title: 'A webhook endpoint was switched off',
    blocks: [
      text(
        `${d.url} was switched off because ${switchedOff[d.reason]}. Nothing is sent to it now, and what was queued for it was dropped.`,
      ),
      facts({ Endpoint: d.webhook_id, Organization: d.org }),
      text(
        `When it works again, set the status of ${d.webhook_id} to active; its past deliveries can be sent again.`,
      ),
    ],
    reason: `${leading(d.org)}, or made this endpoint`,
  }),
});

const key_expiring = template({
  data: Type.Object({
    org,
    slug,
    key: lineOf(120),
    hint: lineOf(40),
    project: lineOf(120),
    expires_at: TimeIn,
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    key: 'checkout service',
    hint: 'svc-live-...DVvb',
    project: 'Search',
    expires_at: '2026-12-05T00:00:00.000Z',
  },
  lives_hours: DAY,
  duty: 'security',
  content: (d) => ({
    subject: `The key ${d.key} ends on ${dateText(d.expires_at)}`,
    preview: 'Its calls are refused from then on.',
    title: `The key ${d.key} ends soon`,
    blocks: [
      text(
        `Calls with it are refused from then on. Rotate it for a successor with the same settings, with a grace time in which both work, or give it a later end.`,
      ),
      facts({ Key: d.hint, Project: d.project, Organization: d.org, Ends: timeText(d.expires_at) }),
      action('See your keys', `/${d.slug}/live/keys`),
    ],
    reason: `${leading(d.org)}, or made this key`,
  }),
});

const sso_domain_missing = template({
  data: Type.Object({ org, domain: lineOf(253), record: lineOf(300) }),
  sample: { org: 'Acme', domain: 'acme.example', record: '_svc-challenge.acme.example' },
  lives_hours: DAYS_3,
  duty: 'security',
  content: (d) => ({
    subject: `The DNS record of ${d.domain} is missing`,
    preview: 'Sign-in goes on; put the record back.',
    title: `The DNS record of ${d.domain} is missing`,
    blocks: [
      text(
        `It proves that the domain belongs to ${d.org}, and was not found four times in a row. Sign-in goes on as before. Put the record back, so that nobody else can claim the domain.`,
      ),
      facts({ Record: d.record, Type: 'TXT' }),
    ],
    reason: leading(d.org),
  }),
});

const storefront_domain_missing = template({
  data: Type.Object({ org, domain: lineOf(253), record: lineOf(300), is_lost: Type.Boolean() }),
  sample: {
    org: 'Acme',
    domain: 'ai.acme.example',
    record: '_svc-storefront.ai.acme.example',
    is_lost: false,
  },
  lives_hours: DAYS_3,
  duty: 'security',
  content: (d) => ({
    subject: d.is_lost
      ? `${d.domain} does not lead to your storefront any more`
      : `The DNS record of ${d.domain} is missing`,
    preview: d.is_lost ? 'Put its DNS record back and verify it.' : 'Put it back within two days.',
    title: d.is_lost
      ? `${d.domain} does not lead to your storefront any more`
      : `The DNS record of ${d.domain} is missing`,
    blocks: [
      text(
        d.is_lost
          ? `The record that proves that the domain belongs to ${d.org} was missing for three days, so that nobody is served there now. Put it back and verify the domain; for thirty days nobody else can.`
          : `It proves that the domain belongs to ${d.org}. When it is missing for two more days, customers are not served at ${d.domain} any more. Put it back.`,
      ),
      facts({ Record: d.record, Type: 'TXT' }),
    ],
    reason: leading(d.org),
  }),
});

const org_closed = template({
  data: Type.Object({ org, readable_until: TimeIn }),
  sample: { org: 'Acme', readable_until: '2027-02-19T00:00:00.000Z' },
  lives_hours: DAYS_3,
  duty: 'law',
  content: (d) => ({
    subject: `${d.org} is closed`,
    preview: 'Its keys do not work any more.',
    title: `${d.org} is closed`,
    blocks: [
      text(
        `All keys of ${d.org} were revoked and automatic top-up was switched off. Owners can sign in until ${dateText(d.readable_until)} to read invoices and the ledger.`,
      ),
    ],
    reason: leading(d.org),
  }),
});

const org_erasure = template({
  data: Type.Object({ org, slug, due_at: TimeIn }),
  sample: { org: 'Acme', slug: 'acme', due_at: '2026-12-21T10:00:00.000Z' },
  lives_hours: DAY,
  duty: 'law',
  content: (d) => ({
    subject: `${d.org} will be erased on ${dateText(d.due_at)}`,
    preview: 'An owner can cancel until then.',
    title: `${d.org} will be erased on ${dateText(d.due_at)}`,
    blocks: [
      text(
        'Keys, projects, policies, stored content and people are deleted then. Invoices and the ledger are kept as long as the law asks.',
      ),
      facts({ Due: timeText(d.due_at) }),
      text('An owner can cancel this until it begins.'),
      action('Open the organization', `/${d.slug}/live/home`),
    ],
    reason: leading(d.org),
  }),
});

const org_export = template({
  data: Type.Object({ org, slug, by: lineOf(320), at: TimeIn }),
  sample: { org: 'Acme', slug: 'acme', by: 'asha@acme.example', at: '2026-11-21T10:00:00.000Z' },
  lives_hours: DAY,
  duty: 'security',
  content: (d) => ({
    subject: `All data of ${d.org} was exported`,
    preview: `By ${d.by}.`,
    title: `All data of ${d.org} was exported`,
    blocks: [
      text(
        'An owner has made an export of the whole organization: people, keys without their secrets, policies, calls with stored content, ledger and invoices. Owners can download it for 24 hours.',
      ),
      facts({ By: d.by, At: timeText(d.at), Organization: d.org }),
      text('If nobody of you should have done this, change the role of this person and end their sessions.'),
      action('See exports', `/${d.slug}/live/settings`),
    ],
    reason: `because you are an owner of ${d.org}`,
  }),
});

const legal_update = template({
  data: Type.Object({
    org,
    document: lineOf(120),
    version: lineOf(40),
    effective_at: TimeIn,
    requires_acceptance: Type.Boolean(),
    url: lineOf(2_048),
    summary: Type.String({ maxLength: 500, format: 'lines' }),
  }),
  sample: {
    org: 'Acme',
    document: 'Terms of service',
    version: '2026-12-21',
    effective_at: '2026-12-21T00:00:00.000Z',
    requires_acceptance: true,
    url: 'https://svc.example/docs/legal/tos/2026-12-21',
    summary: 'A clearer section on refunds.',
  },
  lives_hours: DAYS_3,
  duty: 'law',
  content: (d) => ({
    subject: `${d.document}: new version from ${dateText(d.effective_at)}`,
    preview: d.summary,
    title: `${d.document} change on ${dateText(d.effective_at)}`,
    blocks: [
      text(d.summary),
      facts({ Version: d.version, 'In force': dateText(d.effective_at) }),
      text(
        d.requires_acceptance
          ? `An owner of ${d.org} has to accept the new version in the console.`
          : 'Nothing has to be done.',
      ),
      action('Read the new version', d.url),
    ],
    reason: leading(d.org),
  }),
});

const subprocessor_added = template({
  data: Type.Object({
    org,
    name: lineOf(120),
    purpose: lineOf(300),
    /** As the list names the place. */
    country: lineOf(120),
    effective_at: TimeIn,
  }),
  sample: {
    org: 'Acme',
    name: 'Example Cloud',
    purpose: 'hosting of the database',
    country: 'Germany',
    effective_at: '2026-12-21T00:00:00.000Z',
  },
  lives_hours: DAYS_3,
  duty: 'law',
  content: (d) => ({
    subject: `New sub-processor from ${dateText(d.effective_at)}: ${d.name}`,
    preview: d.purpose,
    title: `New sub-processor: ${d.name}`,
    blocks: [
      text('Our list of sub-processors changes. You may object before that date.'),
      facts({ Name: d.name, Purpose: d.purpose, Country: d.country, From: dateText(d.effective_at) }),
    ],
    reason: leading(d.org),
  }),
});

const mail_sender_failed = template({
  data: Type.Object({ org, domain: lineOf(253) }),
  sample: { org: 'Acme', domain: 'acme.example' },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  content: (d) => ({
    subject: `Mails are not sent from ${d.domain} any more`,
    preview: 'A DNS record is missing.',
    title: `Mails are not sent from ${d.domain} any more`,
    blocks: [
      text(
        `The DNS records that let us send as ${d.domain} were missing at two daily checks. Mails to customers of ${d.org} come from our own address until the records are back.`,
      ),
    ],
    reason: leading(d.org),
  }),
});

const ticket_answered = template({
  data: Type.Object({
    org,
    slug,
    ticket_id: lineOf(60),
    subject: lineOf(120),
    status: lineOf(40),
    answer: nullable(Type.String({ maxLength: 10_000, format: 'lines' })),
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    ticket_id: 'tkt_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    subject: 'An invoice has the wrong address',
    status: 'resolved',
    answer: 'A corrected invoice is on its way.',
  },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  content: (d) => ({
    subject: `${d.subject}: ${d.status}`,
    preview: d.answer ?? `The ticket is ${d.status}.`,
    title: d.subject,
    blocks: [
      ...(d.answer === null ? [] : [text(d.answer)]),
      facts({ Ticket: d.ticket_id, Status: d.status }),
      action('Open the ticket', `/${d.slug}/live/tickets/${d.ticket_id}`),
    ],
    reason: `because you wrote this ticket for ${d.org}, or look after its tickets`,
  }),
});

export const organizationMails = {
  webhook_disabled,
  key_expiring,
  sso_domain_missing,
  storefront_domain_missing,
  org_closed,
  org_erasure,
  org_export,
  legal_update,
  subprocessor_added,
  mail_sender_failed,
  ticket_answered,
};
