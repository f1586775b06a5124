// What people of a reseller may do: its owners and admins say it of the others.
import { type Static, Type } from 'typebox';
import { findPeople, grantsOf, memberRoles, writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  idOf,
  isId,
  named,
  notFound,
  oneOf,
  operation,
  resellerGrants,
  ServiceError,
} from '../kernel/index.ts';
import { findMember, listMembers, lockOrg, type Member, setMemberGrants } from '../orgs/index.ts';
import { heads, resellerCaller } from './audience.ts';

const Grant = oneOf(resellerGrants, 'ResellerGrant');

export const ResellerStaffView = named(
  'ResellerStaff',
  Type.Object({
    org_id: idOf('org'),
    user_id: idOf('user'),
    role: oneOf(memberRoles, 'Role'),
    email: Type.String(),
    name: Type.String(),
    grants: Type.Array(Grant, { description: 'owners and admins have all' }),
  }),
);
type ResellerStaffView = Static<typeof ResellerStaffView>;

const example: ResellerStaffView = {
  ...{ org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', user_id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  ...{ role: 'viewer', email: 'ravi@acme.example', name: 'Ravi', grants: ['reseller.read'] },
};

async function viewStaff(context: Context, members: readonly Member[]): Promise<ResellerStaffView[]> {
  const people = await findPeople(
    context.acrossOrgs.db,
    members.map(({ user_id }) => user_id),
  );
  const by_id = new Map(people.map((person) => [person.id, person]));
  return members.flatMap((member) => {
    const person = by_id.get(member.user_id);
    if (person === undefined) return [];
    const { org_id, user_id, role } = member;
    const grants = [...grantsOf(member)];
    return [{ org_id, user_id, role, email: person.email, name: person.name, grants }];
  });
}

export const listResellerStaffOperation = operation({
  name: 'reseller.staff.list',
  method: 'GET',
  path: '/v1/reseller/staff',
  summary: 'List the members of the reseller with what each may do, longest first',
  audience: heads,
  input: Type.Object({}),
  output: named(
    'ResellerStaffList',
    Type.Object({
      object: Type.Literal('list'),
      grantable: Type.Array(Grant),
      data: Type.Array(ResellerStaffView),
    }),
  ),
  errors: [],
  example: { object: 'list', grantable: [...resellerGrants], data: [example] },
  async run(context) {
    const members = await listMembers(context.db, resellerCaller(context).org_id);
    const data = await viewStaff(context, members);
    return { object: 'list' as const, grantable: [...resellerGrants], data };
  },
});

export const setResellerStaffOperation = operation({
  name: 'reseller.staff.set',
  method: 'PUT',
  path: '/v1/reseller/staff/:user_id',
  summary: 'Say what a member of the reseller may do; an empty list takes all back',
  audience: heads,
  input: Type.Object({
    user_id: idOf('user'),
    grants: Type.Array(Grant, { maxItems: resellerGrants.length, uniqueItems: true }),
  }),
  output: ResellerStaffView,
  errors: ['state_conflict', 'csrf_failed'],
  request: { grants: ['reseller.read'] },
  example,
  async run(context, { user_id, grants }) {
    const { org_id } = resellerCaller(context);
    if (!isId('user', user_id)) throw notFound();
    return context.transaction(async (context) => {
      // Removing a member takes this lock too: grants never outlive the membership.
      await lockOrg(context.db, org_id);
      const member = await findMember(context.db, { org_id, user_id: user_id as Id<'user'> });
      if (member === null) throw notFound();
      if (member.role === 'owner')
        throw new ServiceError('state_conflict', 'Owners may do everything, and need no grants.', {
          details: { state: 'owner' },
        });
      await setMemberGrants(context.db, { org_id, user_id: member.user_id, grants, at: context.now() });
      const [shown] = await viewStaff(context, [{ ...member, grants }]);
      if (shown === undefined) throw notFound();
      await writeAudit(context, {
        ...{ action: 'reseller.staff.set', org_id },
        target: { type: 'user', id: member.user_id, display: shown.email },
        ...{ before: { grants: [...member.grants] }, after: { grants } },
      });
      return shown;
    });
  },
});

export const resellerStaffOperations = [listResellerStaffOperation, setResellerStaffOperation] as const;
