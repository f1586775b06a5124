// Changes what staff decide about an organization, and for its people where it is taxed, what it pays in, and below which
// balance it is written to.
import { closeOrg } from '@svc/core/closing/index.ts';
import { auditTargetOf } from '@svc/core/credits/index.ts';
import { writeAudit } from '@svc/core/identity/index.ts';
import type { Context } from '@svc/core/kernel/index.ts';
import { changeTerms, type Org, type OrgStatus, type PlanId, planIds } from '@svc/core/orgs/index.ts';
import { FREE_MONTHS_MAX, planTimes, putOnPlan, type StaffPlan } from '@svc/core/plans/index.ts';
import { changeMark } from '@svc/core/privacy/index.ts';
import { changeBilling } from '@svc/core/topups/index.ts';
import { type Command, type Input, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';

/** Flags of the address, and its members. */
const address = { line: 'line1', city: 'city', state: 'state_code', 'postal-code': 'postal_code' } as const;
/** Flags of the other billing facts, and their members. */
const facts = {
  currency: 'billing_currency',
  'legal-name': 'legal_name',
  gstin: 'gstin',
  'tax-status': 'tax_status',
  'billing-email': 'billing_email',
} as const;

function given(input: Input, flags: Readonly<Record<string, string>>): Record<string, string> | null {
  const found = Object.entries(flags).flatMap(([flag, member]) => {
    const value = input.find(flag);
    return value === null ? [] : [[member, value] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

/** The plan that was asked for; null for none. */
function planIn(input: Input): StaffPlan | null {
  const plan_id = input.find('plan') as PlanId | null;
  const applies = input.find('applies') as StaffPlan['applies'] | null;
  const free_months = input.integer('free-months');
  if (plan_id === null) {
    if (applies !== null || free_months !== null)
      throw new UsageError('--applies and --free-months go with --plan');
    return null;
  }
  const reason = input.find('reason') ?? 'svcctl org set';
  return { plan_id, applies: applies ?? 'now', free_months: free_months ?? 0, reason };
}

const withoutStatus = ({ kind }: { kind?: Org['kind'] }) => (kind === undefined ? {} : { kind });

/** Sets kind and status, with an entry of the audit log. */
async function setTerms(
  context: Context,
  org: Org,
  terms: { kind?: Org['kind']; status?: OrgStatus },
  reason: string | null,
): Promise<void> {
  if (Object.keys(terms).length === 0) return;
  if (terms.status === 'closed' && org.status !== 'closed')
    await closeOrg(context, {
      ...{ org_id: org.id, confirm: null, refund_requested: false, action: 'staff.orgs.close' },
      ...(reason === null ? {} : { reason }),
    });
  await changeTerms(context, org.id, terms.status === 'closed' ? withoutStatus(terms) : terms);
  const { kind, status } = org;
  await writeAudit(context, {
    ...{ action: 'staff.orgs.set', ...auditTargetOf(org), before: { kind, status }, after: terms },
    ...(reason === null ? {} : { reason }),
  });
}

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    status: {
      type: 'text',
      doc: 'suspended and closed refuse every key',
      choices: ['active', 'suspended', 'closed'],
    },
    kind: { type: 'text', doc: 'a reseller may have storefronts', choices: ['team', 'reseller'] },
    plan: { type: 'text', doc: 'plan, with its limits', choices: planIds },
    applies: { type: 'text', doc: 'when the plan applies, now by default', choices: planTimes },
    'free-months': {
      type: 'integer',
      doc: 'coming months of the plan that have no fee, and no included credit',
      max: FREE_MONTHS_MAX,
    },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500 },
    currency: { type: 'text', doc: 'billing currency, until the first paid top-up', value: 'EUR' },
    'legal-name': { type: 'text', doc: 'name on invoices', value: 'NAME', length_max: 200 },
    gstin: { type: 'text', doc: 'GST number, in India', value: 'GSTIN' },
    'tax-status': {
      type: 'text',
      doc: 'in India; sez and gst_registered need a GSTIN',
      choices: ['gst_registered', 'unregistered', 'sez', 'overseas'],
    },
    'billing-email': { type: 'text', doc: 'where invoices go', value: 'EMAIL', length_max: 254 },
    'low-balance': {
      type: 'integer',
      doc: 'micro-USD below which the organization is written to; 0 is never',
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    },
    line: { type: 'text', doc: 'billing address: street', value: 'TEXT', length_max: 200 },
    city: { type: 'text', doc: 'billing address: city', value: 'TEXT', length_max: 100 },
    state: {
      type: 'text',
      doc: 'billing address: state; in India its GST code',
      value: 'CODE',
      length_max: 40,
    },
    'postal-code': { type: 'text', doc: 'billing address: postal code', value: 'CODE', length_max: 20 },
  },
  example: 'svcctl org set --org acme --state 29 --city Bengaluru',
  async run(input) {
    const status = input.find('status') as OrgStatus | null;
    const kind = input.find('kind') as 'team' | 'reseller' | null;
    const plan_id = input.find('plan') as PlanId | null;
    const low_balance_micro = input.integer('low-balance');
    const billing = given(input, facts);
    const billing_address = given(input, address);
    if ([status, kind, plan_id, billing, billing_address, low_balance_micro].every((one) => one === null))
      throw new UsageError('nothing to set: name a flag beside --org');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const terms = {
        ...(status === null ? {} : { status }),
        ...(kind === null ? {} : { kind }),
      };
      const plan = planIn(input);
      const org = await getOrg(context, input.get('org'));
      await context.transaction(async (context) => {
        await setTerms(context, org, terms, input.find('reason'));
        if (plan !== null) await putOnPlan(context, org.id, plan);
        const change = { ...billing, ...(billing_address === null ? {} : { billing_address }) };
        if (Object.keys(change).length > 0) await changeBilling(context, org.id, change);
        if (low_balance_micro !== null) await changeMark(context, org.id, low_balance_micro);
      });
      const set = {
        ...terms,
        ...(plan_id === null ? {} : { plan_id }),
        ...billing,
        ...(billing_address === null ? {} : { billing_address }),
        ...(low_balance_micro === null ? {} : { low_balance_micro }),
      };
      const lines = Object.entries(set).map(
        ([name, value]) => `${name}  ${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      return { json: { id: org.id, slug: org.slug, ...set }, text: [org.slug, ...lines].join('\n') };
    });
  },
};
