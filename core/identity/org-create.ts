// Making and handing over an organization, as its people do it.
import { type Static, Type } from 'typebox';
import {
  type Context,
  idOf,
  lineOf,
  named,
  oneOf,
  operation,
  orgCaller,
  ServiceError,
} from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import {
  createOrg,
  findOrgRecords,
  listMemberships,
  OrgView,
  orgExample,
  putMember,
  refuseReservedSlug,
  SlugIn,
  viewOrg,
} from '../orgs/index.ts';
import { admitFounder, countUse, takeCode } from './admission/invite-code.ts';
import { InviteCodeIn } from './admission/schema.ts';
import { writeAudit } from './audit/audit.ts';
import { foundingParentsOf } from './founding-parent.ts';
import { foundingTermsOf } from './founding-terms.ts';
import { transferOwnership } from './members/change.ts';
import { sellerOf } from './seller.ts';
import { refuseSsoSession } from './sign-in/operations.ts';
import { lockPerson } from './store.ts';
import { ofPerson, sessionCaller } from './view.ts';

/** Organizations that one person owns at a time; staff make further ones. */
const OWNED_MAX = 5;

const NewOrg = Type.Object({
  name: lineOf(120),
  slug: SlugIn,
  billing_country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' }),
  kind: Type.Optional(oneOf(['team', 'personal'])),
  invite_code: Type.Optional(InviteCodeIn),
  accept_terms: Type.Optional(
    Type.Boolean({
      description: 'accept the terms, the privacy notice and the acceptable use policy in force',
    }),
  ),
});

/** @throws ServiceError plan_limit_reached. The person's row is locked, so that counting takes turns. */
async function refuseTooMany(context: Context): Promise<void> {
  const { user_id } = sessionCaller(context);
  const owned = (await listMemberships(context.db, user_id)).filter(
    ({ role, org_status }) => role === 'owner' && org_status !== 'closed',
  );
  if (owned.length < OWNED_MAX) return;
  throw new ServiceError('plan_limit_reached', `A person owns at most ${OWNED_MAX} organizations.`, {
    details: { limit: 'orgs', limit_value: OWNED_MAX },
  });
}

async function makeOrg(
  context: Context,
  { invite_code, accept_terms, ...wanted }: Static<typeof NewOrg>,
): Promise<OrgView> {
  refuseSsoSession(context);
  refuseReservedSlug(wanted.slug);
  const given = invite_code === undefined ? null : await takeCode(context, invite_code);
  return context.transaction(async (context) => {
    const { user_id, email } = sessionCaller(context);
    await lockPerson(context.db, user_id);
    await refuseTooMany(context);
    const code = await admitFounder(context, { user_id, given });
    const seller = code?.reseller_id ?? (await sellerOf(context))?.org_id ?? null;
    const parent = seller === null ? {} : await foundingParentsOf(context).of(context, seller);
    const { id: org_id } = await createOrg(context, { ...wanted, ...parent, self_made: true });
    const at = context.now();
    if (code !== null) await countUse(context, { id: code.id, org_id, user_id });
    await putMember(context.db, { org_id, user_id, role: 'owner', source: 'owner', at });
    const payload = { user_id, email, role: 'owner', source: 'owner' };
    await writeEvent(context.db, { org_id, topic: 'member.added', payload, at });
    if (accept_terms === true) await foundingTermsOf(context).accept(context, { org_id });
    const { slug, name, billing_country } = wanted;
    await writeAudit(context, {
      ...{ action: 'orgs.create', org_id, target: { type: 'org', id: org_id, display: slug } },
      after: { slug, name, billing_country },
    });
    const [org] = await findOrgRecords(context.db, [org_id]);
    if (org === undefined) throw new Error('an organization that was just made is not there');
    return viewOrg(org, 'owner', at);
  });
}

export const createOrgOperation = operation({
  name: 'orgs.create',
  method: 'POST',
  path: '/v1/orgs',
  summary: `Make an organization and own it; a person owns at most ${OWNED_MAX}`,
  audience: { kind: 'session', roles: 'any' },
  ...ofPerson,
  input: NewOrg,
  output: OrgView,
  errors: ['already_exists', 'plan_limit_reached', 'invite_required', 'too_many_attempts', 'csrf_failed'],
  status: 201,
  idempotent: true,
  request: { name: 'Acme', slug: 'acme', billing_country: 'IN' },
  example: orgExample,
  run: makeOrg,
});

export const transferOrgOperation = operation({
  name: 'orgs.transfer',
  method: 'POST',
  path: '/v1/orgs/:id/transfer',
  summary: 'Make another member the owner; whoever hands over becomes an admin',
  audience: { kind: 'session', roles: ['owner'], reauthenticated: true },
  input: Type.Object({ id: idOf('org'), user_id: idOf('user') }),
  output: named(
    'OrganizationTransfer',
    Type.Object({ org_id: idOf('org'), owner_id: Type.String(), previous_owner_role: oneOf(['admin']) }),
  ),
  errors: ['state_conflict', 'reauthentication_required', 'csrf_failed'],
  request: { user_id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  example: {
    ...{ org_id: orgExample.id, owner_id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J', previous_owner_role: 'admin' },
  },
  async run(context, { user_id }) {
    const { org_id } = orgCaller(context);
    await transferOwnership(context, { org_id, user_id });
    return { org_id, owner_id: user_id, previous_owner_role: 'admin' as const };
  },
});
