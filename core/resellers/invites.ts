// Invite codes of a reseller: who makes an organization with one becomes its customer, on its default tier.
import { Type } from 'typebox';
import {
  codeExample,
  type FoundingParents,
  INVITE_DAYS_MAX,
  INVITE_USES_MAX,
  InviteCodeView,
  listCodes,
  makeInviteCode,
  revokeInviteCode,
  viewCode,
} from '../identity/index.ts';
import {
  idOf,
  isId,
  lineOf,
  Nothing,
  named,
  notFound,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  walkPage,
} from '../kernel/index.ts';
import { lockOrg } from '../orgs/index.ts';
import { holders, resellerCaller } from './audience.ts';
import { findDefaultTier } from './tiers/store.ts';

const PAGE = 50;

export const ResellerInviteView = named('ResellerInvite', InviteCodeView);
const MadeInvite = named(
  'MadeResellerInvite',
  Type.Object({
    ...InviteCodeView.properties,
    code: Type.String({ description: 'shown in this answer alone' }),
  }),
);

export const listResellerInvitesOperation = operation({
  name: 'reseller.invites.list',
  method: 'GET',
  path: '/v1/reseller/invites',
  summary:
    'List the invite codes of the reseller, newest first; a code itself is shown once, when it is made',
  audience: holders('reseller.read'),
  input: Type.Object(pageInput(200)),
  output: pageOf(ResellerInviteView),
  errors: ['grant_required'],
  example: { object: 'list', data: [codeExample], next_cursor: '' },
  async run(context, { cursor, limit }) {
    const { org_id: reseller_id } = resellerCaller(context);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.invites ${reseller_id}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => listCodes(context.db, { reseller_id, after, limit }),
      placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
    });
    const at = context.now();
    return page(
      rows.map((code) => viewCode(code, at)),
      next_cursor,
      cursorAt,
    );
  },
});

export const createResellerInviteOperation = operation({
  name: 'reseller.invites.create',
  method: 'POST',
  path: '/v1/reseller/invites',
  summary: 'Make an invite code; each use lets one customer be made, on the default tier',
  audience: holders('reseller.campaigns'),
  input: Type.Object({
    note: lineOf(200),
    max_uses: Type.Optional(
      Type.Integer({ minimum: 1, maximum: INVITE_USES_MAX, description: 'without it one' }),
    ),
    expires_days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: INVITE_DAYS_MAX, description: 'without it 30' }),
    ),
  }),
  output: MadeInvite,
  errors: ['grant_required', 'csrf_failed'],
  status: 201,
  idempotent: true,
  request: { note: 'partners in Pune', max_uses: 20 },
  example: { ...codeExample, uses: 0, code: 'INV-4F7H-9KQ2-XW3B-7Q2M' },
  async run(context, wanted) {
    const { org_id: reseller_id } = resellerCaller(context);
    const { root_key } = context.services;
    const made = await makeInviteCode(context, { ...wanted, reseller_id, root_key });
    return { ...viewCode(made, context.now()), code: made.code };
  },
});

export const deleteResellerInviteOperation = operation({
  name: 'reseller.invites.delete',
  method: 'DELETE',
  path: '/v1/reseller/invites/:id',
  summary: 'Revoke an invite code; customers that were made with it stay',
  audience: holders('reseller.campaigns'),
  input: Type.Object({ id: idOf('invite_code') }),
  output: Nothing,
  errors: ['grant_required', 'state_conflict', 'csrf_failed'],
  status: 204,
  example: {},
  async run(context, { id }) {
    if (!isId('invite_code', id)) throw notFound();
    await revokeInviteCode(context, { id, reseller_id: resellerCaller(context).org_id });
    return {};
  },
});

/** Of a reseller that has ended, or is one no more, a code lets nobody in. */
export const foundingParents: FoundingParents = {
  async of({ db }, reseller_id) {
    // It is not closed before the customer is there, whom its closing then counts.
    const parent = await lockOrg(db, reseller_id);
    if (parent?.kind === 'reseller' && parent.status === 'active')
      return { parent_org_id: reseller_id, reseller_tier_id: await findDefaultTier(db, reseller_id) };
    throw new ServiceError(
      'invite_required',
      'Nobody can become a customer here now. Ask whoever invited you.',
      {
        param: 'invite_code',
        details: { reason: 'revoked' },
      },
    );
  },
};

export const resellerInviteOperations = [
  listResellerInvitesOperation,
  createResellerInviteOperation,
  deleteResellerInviteOperation,
] as const;
