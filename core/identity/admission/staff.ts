// The waitlist and invite codes as staff handle them. Each look and each act is an entry of the audit log.

import { type TSchema, Type } from 'typebox';
import {
  type Context,
  type Id,
  idOf,
  isId,
  type Kind,
  lineOf,
  notFound,
  operation,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../../kernel/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { DAYS_MAX, makeInviteCode, revokeInviteCode, USES_MAX } from './invite-code.ts';
import { getNewOrgLimitsOperation, setNewOrgLimitsOperation } from './new-orgs.ts';
import { codeExample, InviteCodeView, viewCode, viewWaiting, WaitingView, waitingExample } from './schema.ts';
import { listCodes, listWaitingEntries } from './store.ts';
import { inviteFromWaitlist } from './waitlist.ts';

const deciders = { kind: 'staff', roles: ['support'] } as const;
const PAGE = 50;

function idIn<K extends Kind>(kind: K, text: string): Id<K> {
  if (!isId(kind, text)) throw notFound();
  return text;
}

interface Listed {
  readonly id: string;
  readonly created_at: Date;
}

/** A list of staff: a page of rows, and an entry of the audit log that they were looked at. */
function listing<Row extends Listed, V extends TSchema>(of: {
  readonly name: string;
  readonly path: string;
  readonly summary: string;
  readonly bound: string;
  readonly view: V;
  readonly example: unknown;
  readonly read: (
    context: Context,
    args: { after: { at: number; id: string } | null; limit: number },
  ) => Promise<Row[]>;
  readonly show: (row: Row, at: Date) => unknown;
}) {
  return operation({
    name: of.name,
    method: 'GET',
    path: of.path,
    summary: of.summary,
    audience: deciders,
    input: Type.Object(pageInput(200)),
    output: pageOf(of.view),
    errors: [],
    example: { object: 'list', data: [of.example], next_cursor: '' } as never,
    run: (context, input) =>
      context.transaction(async (context) => {
        await writeAudit(context, { action: of.name, org_id: null });
        const { rows, next_cursor, cursorAt } = await walkPage(context, {
          bound: of.bound,
          cursor: input.cursor,
          limit: input.limit ?? PAGE,
          read: (after, limit) => of.read(context, { after, limit }),
          placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
        });
        const at = context.now();
        return page(
          rows.map((row) => of.show(row, at)),
          next_cursor,
          cursorAt,
        ) as never;
      }),
  });
}

export const listWaitlistOperation = listing({
  name: 'staff.waitlist.list',
  path: '/staff/waitlist',
  summary: 'List people who wait until they may make an organization, oldest first',
  bound: 'staff.waitlist',
  view: WaitingView,
  example: waitingExample,
  read: ({ db }, args) => listWaitingEntries(db, args),
  show: viewWaiting,
});

export const inviteFromWaitlistOperation = operation({
  name: 'staff.waitlist.invite',
  method: 'POST',
  path: '/staff/waitlist/:id/invite',
  summary: 'Let a person of the waitlist make an organization; a mail tells them',
  audience: deciders,
  input: Type.Object({ id: idOf('waitlist_entry'), reason: lineOf(500) }),
  output: WaitingView,
  errors: ['state_conflict'],
  example: { ...waitingExample, status: 'invited', reviewed_by: 'ops@svc.example' },
  run: async (context, { id, reason }) =>
    viewWaiting(await inviteFromWaitlist(context, { id: idIn('waitlist_entry', id), reason })),
});

export const listInviteCodesOperation = listing({
  name: 'staff.invite_codes.list',
  path: '/staff/invite-codes',
  summary: 'List invite codes, newest first; a code itself is shown once, when it is made',
  bound: 'staff.invite_codes',
  view: InviteCodeView,
  example: codeExample,
  read: ({ db }, args) => listCodes(db, { reseller_id: null, ...args }),
  show: viewCode,
});

export const createInviteCodeOperation = operation({
  name: 'staff.invite_codes.create',
  method: 'POST',
  path: '/staff/invite-codes',
  summary: 'Make an invite code; each use lets one organization be made',
  audience: deciders,
  input: Type.Object({
    note: lineOf(200),
    max_uses: Type.Optional(Type.Integer({ minimum: 1, maximum: USES_MAX, description: 'without it one' })),
    expires_days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: DAYS_MAX, description: 'without it 30' }),
    ),
  }),
  output: Type.Object({
    ...InviteCodeView.properties,
    code: Type.String({ description: 'shown in this answer alone' }),
  }),
  errors: [],
  status: 201,
  idempotent: true,
  example: { ...codeExample, uses: 0, code: 'INV-4F7H-9KQ2-XW3B-7Q2M' },
  async run(context, wanted) {
    const { root_key } = context.services;
    const made = await makeInviteCode(context, { ...wanted, reseller_id: null, root_key });
    return { ...viewCode(made, context.now()), code: made.code };
  },
});

export const revokeInviteCodeOperation = operation({
  name: 'staff.invite_codes.revoke',
  method: 'POST',
  path: '/staff/invite-codes/:id/revoke',
  summary: 'Revoke an invite code; organizations that were made with it stay',
  audience: deciders,
  input: Type.Object({ id: idOf('invite_code'), reason: lineOf(500) }),
  output: InviteCodeView,
  errors: ['state_conflict'],
  example: { ...codeExample, status: 'revoked' },
  async run(context, { id, reason }) {
    const revoked = await revokeInviteCode(context, {
      ...{ id: idIn('invite_code', id), reason, reseller_id: null },
    });
    return viewCode(revoked, context.now());
  },
});

export const staffAdmissionOperations = [
  listWaitlistOperation,
  inviteFromWaitlistOperation,
  listInviteCodesOperation,
  createInviteCodeOperation,
  revokeInviteCodeOperation,
  getNewOrgLimitsOperation,
  setNewOrgLimitsOperation,
] as const;
