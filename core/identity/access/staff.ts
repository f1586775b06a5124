// Requests for access as staff see and decide them. Each look and each act is an entry of the audit log.
import { type Static, Type } from 'typebox';
import {
  type Id,
  idOf,
  isId,
  lineOf,
  notFound,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../../kernel/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { approveAccess, declineAccess } from './access.ts';
import { type AccessRequest, listWaitingAccess } from './store.ts';

const deciders = { kind: 'staff', roles: ['support'] } as const;
const PAGE = 50;
export const accessStates = ['received', 'approved', 'declined', 'activated'] as const;

export const AccessRequestView = Type.Object({
  id: idOf('access_request'),
  email: Type.String(),
  name: Type.String(),
  company: Type.String(),
  job_title: Type.String(),
  country: Type.String(),
  website: Type.String(),
  use_case: Type.String(),
  monthly_spend: Type.String(),
  status: oneOf(accessStates, 'AccessRequestStatus'),
  reviewed_by: nullable(Type.String()),
  created_at: Time,
});
type AccessRequestView = Static<typeof AccessRequestView>;

function view({
  email_key: _key,
  mails: _mails,
  expires_at: _end,
  ...row
}: AccessRequest): AccessRequestView {
  return { ...row, created_at: row.created_at.toISOString() };
}

function accessId(text: string): Id<'access_request'> {
  if (!isId('access_request', text)) throw notFound();
  return text;
}

const example: AccessRequestView = {
  ...{ id: 'acr_01KACZ3V8S6T5R4Q3P2N1M0K9J', email: 'asha@acme.example', name: 'Asha Rao', company: 'Acme' },
  ...{ job_title: 'Head of platform', country: 'IN', website: 'https://acme.example' },
  ...{ use_case: 'Support answers in nine languages.', monthly_spend: '1,000 to 5,000 USD' },
  ...{ status: 'received', reviewed_by: null, created_at: '2026-11-21T10:00:00.000Z' },
};
const reviewed = { ...example, reviewed_by: 'ops@svc.example' };

export const listAccessOperation = operation({
  name: 'staff.access.list',
  method: 'GET',
  path: '/staff/access-requests',
  summary: 'List requests for access that wait for a decision, oldest first',
  audience: deciders,
  input: Type.Object(pageInput(200)),
  output: pageOf(AccessRequestView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.access.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: 'staff.access',
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => listWaitingAccess(context.db, { after, limit }),
        placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
      });
      return page(rows.map(view), next_cursor, cursorAt);
    }),
});

export const approveAccessOperation = operation({
  name: 'staff.access.approve',
  method: 'POST',
  path: '/staff/access-requests/:id/approve',
  summary: 'Approve a request for access: a mail brings the link that makes the account',
  audience: deciders,
  input: Type.Object({ id: idOf('access_request'), reason: lineOf(500) }),
  output: AccessRequestView,
  errors: ['state_conflict'],
  example: { ...reviewed, status: 'approved' },
  async run(context, { id, reason }) {
    const { root_key } = context.services;
    return view(await approveAccess(context, { id: accessId(id), reason, root_key }));
  },
});

export const declineAccessOperation = operation({
  name: 'staff.access.decline',
  method: 'POST',
  path: '/staff/access-requests/:id/decline',
  summary: 'Decline a request for access, with a mail or without one',
  audience: deciders,
  input: Type.Object({
    id: idOf('access_request'),
    reason: lineOf(500),
    send_mail: Type.Boolean({ description: 'whether a mail says so, without the reason' }),
  }),
  output: AccessRequestView,
  errors: ['state_conflict'],
  example: { ...reviewed, status: 'declined' },
  run: async (context, { id, reason, send_mail }) =>
    view(await declineAccess(context, { id: accessId(id), reason, tells: send_mail })),
});

export const staffAccessOperations = [
  listAccessOperation,
  approveAccessOperation,
  declineAccessOperation,
] as const;
