// What the platform pays for an organization's shadows: staff give a daily allowance, and see what was spent.
import { type Static, Type } from 'typebox';
import { auditTargetOf, getStaffOrg, lookInto } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import { type Context, type Id, lineOf, named, notFound, nullable, operation } from '../kernel/index.ts';
import { lockOrg } from '../orgs/index.ts';
import { findAllowance, readSpending, setAllowance } from '../policies/index.ts';

/** A thousand USD: whoever needs more has an agreement of another kind. */
export const SHADOW_ALLOWANCE_MAX = 1_000_000_000;

export const ShadowAllowanceView = named(
  'ShadowAllowance',
  Type.Object({
    daily_micro_usd: nullable(
      Type.Integer({ description: 'what the platform pays in a day (UTC); null: nothing' }),
    ),
    today_micro_usd: Type.Integer({ description: 'spent today' }),
    month_micro_usd: Type.Integer({ description: 'spent in the thirty days up to today' }),
    month_runs: Type.Integer({ description: 'copies in these days' }),
  }),
);
type View = Static<typeof ShadowAllowanceView>;

const example: View = {
  ...{ daily_micro_usd: 5_000_000, today_micro_usd: 412_300 },
  ...{ month_micro_usd: 9_120_400, month_runs: 8_214 },
};

async function viewOf(context: Context, org_id: Id<'org'>): Promise<View> {
  const daily_micro_usd = await findAllowance(context.db, org_id);
  return { daily_micro_usd, ...(await readSpending(context.db, org_id, context.now())) };
}

/**
 * Sets what the platform pays for shadows of an organization in a day; null ends it: policies that ask for it are refused
 * from then on, and those that are active make no such copies any more.
 * @throws ServiceError not_found.
 */
export function allowShadows(
  context: Context,
  org_id: Id<'org'>,
  wanted: { readonly daily_micro_usd: number | null; readonly reason: string },
): Promise<View> {
  return context.transaction(async (context) => {
    const org = await lockOrg(context.db, org_id);
    if (org === null) throw notFound();
    const { daily_micro_usd, reason } = wanted;
    const before = { daily_micro_usd: await findAllowance(context.db, org_id) };
    await setAllowance(context.db, { org_id, daily_micro_usd, at: context.now() });
    await writeAudit(context, {
      action: 'staff.orgs.shadow_allowance.set',
      ...auditTargetOf(org),
      ...{ before, after: { daily_micro_usd }, reason },
    });
    return viewOf(context, org_id);
  });
}

export const getShadowAllowanceOperation = operation({
  name: 'staff.orgs.shadow_allowance.get',
  method: 'GET',
  path: '/staff/orgs/:id/shadow-allowance',
  summary: "Read what the platform pays for an organization's shadows, and has paid",
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({ id: Type.String() }),
  output: ShadowAllowanceView,
  errors: [],
  example,
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, id, 'staff.orgs.shadow_allowance.get');
      return viewOf(context, org.id);
    }),
});

export const setShadowAllowanceOperation = operation({
  name: 'staff.orgs.shadow_allowance.set',
  method: 'POST',
  path: '/staff/orgs/:id/shadow-allowance',
  summary: "Set what the platform pays for an organization's shadows in a day",
  audience: { kind: 'staff', roles: ['finance'] },
  input: Type.Object({
    id: Type.String(),
    daily_micro_usd: nullable(
      Type.Integer({ minimum: 1, maximum: SHADOW_ALLOWANCE_MAX, description: 'null ends the allowance' }),
    ),
    reason: lineOf(500),
  }),
  output: ShadowAllowanceView,
  errors: [],
  example,
  async run(context, { id, ...wanted }) {
    const org = await getStaffOrg(context, id);
    return allowShadows(context, org.id, wanted);
  },
});
