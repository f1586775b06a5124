// Staff read and change the limits against abuse of organizations that people make themselves (core/orgs/new-orgs.ts).
import { type Static, Type } from 'typebox';
import { writeSetting } from '../../db/index.ts';
import { type Context, lineOf, named, nullable, operation } from '../../kernel/index.ts';
import { announceNewOrgs, type NewOrgLimits, readNewOrgLimits } from '../../orgs/index.ts';
import { changesOf, writeAudit } from '../audit/audit.ts';

const MOST = 1_000_000;
const Bound = (description: string) => nullable(Type.Integer({ minimum: 1, maximum: MOST, description }));
const members = {
  first_rpm: Bound('live requests a minute until the first top-up is paid; null: no limit of its own'),
  keys_per_hour: Bound('keys that can be created in an hour; null: as many as the plan has'),
};
export const NewOrgLimitsView = named('NewOrgLimits', Type.Object(members));

/** Changes the limits; what is left out stays. Gateways follow within a second. */
export function changeNewOrgLimits(
  context: Context,
  { reason, ...change }: Partial<NewOrgLimits> & { readonly reason: string },
): Promise<NewOrgLimits> {
  return context.transaction(async (context) => {
    const { db } = context;
    const before = await readNewOrgLimits(db);
    const after = { ...before, ...change };
    await writeSetting(db, { name: 'new_orgs', value: after, at: context.now() });
    await announceNewOrgs(db);
    await writeAudit(context, {
      ...{ action: 'staff.new_orgs.set', org_id: null, reason },
      ...changesOf(before, after, ['first_rpm', 'keys_per_hour']),
    });
    return after;
  });
}

const example: Static<typeof NewOrgLimitsView> = { first_rpm: 20, keys_per_hour: 20 };

export const getNewOrgLimitsOperation = operation({
  name: 'staff.new_orgs.get',
  method: 'GET',
  path: '/staff/new-orgs',
  summary: 'Show the limits of organizations that people make themselves',
  audience: { kind: 'staff', roles: ['support', 'finance', 'compliance'] },
  input: Type.Object({}),
  output: NewOrgLimitsView,
  errors: [],
  example,
  async run(context) {
    await writeAudit(context, { action: 'staff.new_orgs.get', org_id: null });
    return readNewOrgLimits(context.db);
  },
});

export const setNewOrgLimitsOperation = operation({
  name: 'staff.new_orgs.set',
  method: 'PATCH',
  path: '/staff/new-orgs',
  summary: 'Set the limits of organizations that people make themselves; what is left out stays',
  audience: { kind: 'staff', roles: ['support'] },
  input: Type.Object({ ...Type.Partial(Type.Object(members)).properties, reason: lineOf(500) }),
  output: NewOrgLimitsView,
  errors: [],
  request: { first_rpm: 10, reason: 'a wave of sign-ups' },
  example: { ...example, first_rpm: 10 },
  run: (context, change) => changeNewOrgLimits(context, change),
});
