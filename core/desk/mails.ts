// Mails that were asked for, as staff look them up: whether and when one has gone, never what it says.
import { Type } from 'typebox';
import { auditTargetOf } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  isId,
  lineOf,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { emailKey, findMails, type SentMail } from '../mail/index.ts';
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
});

function viewMail(mail: SentMail) {
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
