// Mails that were asked for, as staff look them up: whether and when one has gone, never what it says.
import { Type } from 'typebox';
import { auditTargetOf } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  isId,
  lineOf,
  notFound,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  Time,
  walkPage,
} from '../kernel/index.ts';
import {
  emailKey,
  findMails,
  findTemplate,
  getEmailKey,
  lockMail,
  releaseAddress,
  requeueMail,
  type SentMail,
} from '../mail/index.ts';
import { findOrg } from '../orgs/index.ts';

const PAGE = 50;

export const MailView = Type.Object({
  id: Type.String(),
  org_id: nullable(Type.String()),
  template: Type.String({ description: 'which mail: `receipt`, `low_balance`, …' }),
  reference: Type.String({ description: 'what it is about' }),
  recipient: Type.String(),
  status: Type.String({ description: '`queued`, `sending`, `sent`, `bounced`, `failed` or `dropped`' }),
  attempts: Type.Integer(),
  answer: Type.String({ description: 'what the server said last, or why it was dropped' }),
  created_at: Time,
  sent_at: nullable(Time),
  refused: Type.Boolean({ description: 'mail does not reach its address; nothing is sent to it' }),
});

function viewMail({ expires_at: _, ...mail }: SentMail) {
  return {
    ...mail,
    created_at: mail.created_at.toISOString(),
    sent_at: mail.sent_at?.toISOString() ?? null,
  };
}

/** What `q` names: a mail, an address, an organization by id or slug, else what a mail is about. */
async function subjectOf(context: Context, q: string) {
  const text = q.trim();
  if (isId('mail', text)) return { by: 'id', value: text, org: null } as const;
  const address = text.includes('@') ? emailKey(text) : null;
  if (address !== null) return { by: 'address', value: address, org: null } as const;
  const org = await findOrg(context.db, text);
  if (org !== null) return { by: 'org', value: org.id, org } as const;
  return { by: 'reference', value: text, org: null } as const;
}

export const findMailsOperation = operation({
  name: 'staff.mails.find',
  method: 'GET',
  path: '/staff/mails',
  summary: 'Find mails by address, organization, id or reference, newest first',
  audience: { kind: 'staff', roles: ['support', 'finance'] },
  input: Type.Object({
    q: lineOf(254),
    ...pageInput(200),
  }),
  output: pageOf(MailView),
  errors: [],
  example: { object: 'list', data: [], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const { by, value, org } = await subjectOf(context, input.q);
      const about = org === null ? { org_id: null } : auditTargetOf(org);
      await writeAudit(context, { action: 'staff.mails.find', ...about, after: { by, value } });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.mails ${by} ${value}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => findMails(context.db, { by, value, after, limit }),
        placeOf: (mail) => ({ at: mail.created_at.getTime(), id: mail.id }),
      });
      return page(rows.map(viewMail), next_cursor, cursorAt);
    }),
});

const senders = { kind: 'staff', roles: ['support', 'finance'] } as const;

function conflict(state: string, message: string): ServiceError {
  return new ServiceError('state_conflict', message, { details: { state } });
}

/** @throws ServiceError state_conflict for a mail that cannot be sent again, or would be of no use. */
function refuseResend(mail: SentMail, at: Date): void {
  const { status } = mail;
  if (status === 'queued' || status === 'sending')
    throw conflict(status, 'The mail waits to be sent already.');
  if (status === 'sent') throw conflict(status, 'The mail was sent, and no server has returned it.');
  if (mail.refused)
    throw conflict('refused', 'Nothing is sent to this address, because it refuses mail. Lift that first.');
  if (findTemplate(mail.template)?.secret === true)
    throw conflict(status, 'Its link is gone. Who asked for the mail must ask for a new one.');
  if (mail.expires_at <= at) throw conflict('expired', 'What the mail says is too old to be of use.');
}

export const resendMailOperation = operation({
  name: 'staff.mails.resend',
  method: 'POST',
  path: '/staff/mails/:id/resend',
  summary: 'Send a mail again that did not arrive',
  audience: senders,
  input: Type.Object({ id: Type.String(), reason: lineOf(500) }),
  output: MailView,
  errors: ['state_conflict'],
  example: {
    ...{ id: 'mail_01KACZ3V8S6T5R4Q3P2N1M0K9J', org_id: null, template: 'receipt', reference: 'inv_1' },
    ...{ recipient: 'asha@acme.example', status: 'queued', attempts: 0, answer: '', refused: false },
    ...{ created_at: '2026-11-21T10:00:00.000Z', sent_at: null },
  },
  run: (context, { id, reason }) =>
    context.transaction(async (context) => {
      const { db } = context;
      const at = context.now();
      const mail = isId('mail', id) ? await lockMail(db, id as Id<'mail'>) : null;
      if (mail === null) throw notFound();
      refuseResend(mail, at);
      await requeueMail(db, { id: mail.id, at });
      await writeAudit(context, {
        ...{ action: 'staff.mails.resend', org_id: mail.org_id, reason },
        target: { type: 'mail', id: mail.id, display: `${mail.template} ${mail.reference}` },
        before: { status: mail.status, answer: mail.answer },
      });
      return viewMail((await lockMail(db, mail.id)) as SentMail);
    }),
});

export const releaseAddressOperation = operation({
  name: 'staff.mails.release',
  method: 'POST',
  path: '/staff/mails/addresses/release',
  summary: 'Let mail go to an address again that refused it',
  audience: senders,
  input: Type.Object({ address: lineOf(254), reason: lineOf(500) }),
  output: Type.Object({ address: Type.String() }),
  errors: [],
  example: { address: 'asha@acme.example' },
  run: (context, { address: text, reason }) =>
    context.transaction(async (context) => {
      const address = getEmailKey(text);
      if (!(await releaseAddress(context.db, address))) throw notFound();
      const target = { type: 'mail_address', id: address, display: address };
      await writeAudit(context, { action: 'staff.mails.release', org_id: null, target, reason });
      return { address };
    }),
});
