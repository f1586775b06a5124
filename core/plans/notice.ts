// Customers are told before the fee of their plan rises. A rise holds for an organization from the first month that begins
// at least thirty days after its notice, so one that was not told, for whatever reason, goes on paying what it paid.
import { findBillingMailboxes, findMailboxes } from '../identity/index.ts';
import type { Context, Id } from '../kernel/index.ts';
import { sendMail } from '../mail/index.ts';
import {
  type FeeNotice,
  listOnPlans,
  lockOrg,
  monthOf,
  type Org,
  type Plan,
  type PlanTerms,
  planIn,
  plansFor,
  type Rise,
  readPlansSetting,
  readPlanTerms,
  untoldRises,
} from '../orgs/index.ts';
import { formatCredits } from '../topups/index.ts';
import { monthlyPrice } from './fee.ts';
import { insertNotice, listNotices } from './store.ts';

const DAY_MS = 86_400_000;
/** Days between a notice and the month in which the fee rises. */
const NOTICE_DAYS = 30;
/** The mail goes this long before, so that an outage of days delays no rise. */
const MAIL_DAYS = 45;
const PAGE = 500;

/** The first day of the first month that begins `NOTICE_DAYS` after the day of `at`, and not before `sheet_from`. */
export function riseBegins(at: Date, sheet_from = ''): string {
  const earliest = new Date(at.getTime() + NOTICE_DAYS * DAY_MS).toISOString().slice(0, 10);
  const { period, ends_at } = monthOf(new Date(earliest));
  const begins = earliest === period ? period : monthOf(ends_at).period;
  return begins > sheet_from ? begins : sheet_from;
}

/** The plans as they hold for an organization at `at`. */
export async function plansOf(context: Context, terms: PlanTerms, at: Date): Promise<Plan[]> {
  const setting = await readPlansSetting(context.db);
  const notices = setting.fees.length === 0 ? [] : await listNotices(context.db, [terms.org_id]);
  return plansFor(setting, { ...terms, notices }, at);
}

/** A fee that an organization was told of and does not pay yet. */
interface ComingRise {
  readonly begins_at: Date;
  readonly plan: Plan;
}

/** The next fee that `terms` were told of; null when none is to come, or the plan is left before. */
export async function comingRise(context: Context, terms: PlanTerms, at: Date): Promise<ComingRise | null> {
  const setting = await readPlansSetting(context.db);
  if (setting.fees.length === 0) return null;
  const notices = await listNotices(context.db, [terms.org_id]);
  const priceAt = (time: Date) => planIn(plansFor(setting, { ...terms, notices }, time), terms.plan_id);
  const present = priceAt(at).monthly_minor ?? 0;
  const days = notices
    .filter(({ plan_id, begins_on }) => plan_id === terms.plan_id && new Date(begins_on) > at)
    .map(({ begins_on }) => begins_on);
  for (const begins_on of days.sort()) {
    if (leavesBefore(terms, begins_on)) return null;
    const begins_at = new Date(begins_on);
    const plan = priceAt(begins_at);
    // The sheet may have been changed back since the notice.
    if ((plan.monthly_minor ?? 0) > present) return { begins_at, plan };
  }
  return null;
}

/** Whether an organization will have left its plan when a rise begins. */
function leavesBefore({ next_plan_at }: PlanTerms, begins_on: string): boolean {
  return next_plan_at !== null && next_plan_at <= new Date(begins_on);
}

/** Writes one notice down, with its mail; nothing where that was done before. Under the lock of `org`. */
async function tell(context: Context, org: Org, { rise, plan }: { rise: Rise; plan: Plan }): Promise<void> {
  const at = context.now();
  const begins_on = riseBegins(at, rise.sheet_from);
  const { sheet_from, to_minor: fee_minor } = rise;
  const notice = { plan_id: plan.id, sheet_from, fee_minor, begins_on };
  if (!(await insertNotice(context.db, { ...notice, org_id: org.id, at }))) return;
  const price = monthlyPrice({ monthly_minor: fee_minor, included_micro: rise.included_micro });
  const before = monthlyPrice({ monthly_minor: rise.from_minor, included_micro: 0 });
  const owners = await findMailboxes(context.db, { org_id: org.id, roles: ['owner'] });
  await sendMail(context, {
    template: 'plan_fee_rises',
    // The owners decide, and the billing address pays.
    to: [...owners, ...(await findBillingMailboxes(context.db, org.id))],
    org_id: org.id,
    reference: `${org.id}-${plan.id}-${sheet_from}-${fee_minor}`,
    data: {
      ...{ org: org.name, slug: org.slug, plan: plan.name, begins_at: `${begins_on}T00:00:00.000Z` },
      ...{ fee: formatCredits(price.fee_micro), previous: formatCredits(before.fee_micro) },
      included: formatCredits(price.included_micro),
    },
  });
}

/** The rises whose mail to an organization is due. */
function dueRises(
  setting: Awaited<ReturnType<typeof readPlansSetting>>,
  { terms, notices, at }: { terms: PlanTerms; notices: readonly FeeNotice[]; at: Date },
): Rise[] {
  const until = new Date(at.getTime() + MAIL_DAYS * DAY_MS);
  return untoldRises(setting, { ...terms, notices }, until).filter(
    ({ sheet_from }) => !leavesBefore(terms, riseBegins(at, sheet_from)),
  );
}

/** Tells one organization of what its plan will cost, where that is due. */
async function tellOrg(context: Context, org_id: Id<'org'>): Promise<void> {
  await context.transaction(async (context) => {
    const org = await lockOrg(context.db, org_id);
    if (org === null || org.status === 'closed') return;
    const at = context.now();
    const setting = await readPlansSetting(context.db);
    const terms = await readPlanTerms(context.db, org_id);
    const notices = await listNotices(context.db, [org_id]);
    const plan = planIn(plansFor(setting, { ...terms, notices }, at), terms.plan_id);
    for (const rise of dueRises(setting, { terms, notices, at })) await tell(context, org, { rise, plan });
  });
}

/** Tells every organization whose fee will rise, once for each change. Part of the job `open_plan_periods`. */
export async function tellRises(context: Context): Promise<void> {
  const setting = await readPlansSetting(context.db);
  if (setting.fees.length === 0) return;
  for (let after = ''; ; ) {
    const page = await listOnPlans(context.db, { after, limit: PAGE });
    const notices = await listNotices(
      context.db,
      page.map(({ org_id }) => org_id),
    );
    const at = context.now();
    for (const terms of page) {
      const own = notices.filter(({ org_id }) => org_id === terms.org_id);
      if (dueRises(setting, { terms, notices: own, at }).length === 0) continue;
      await tellOrg(context, terms.org_id).catch((error) =>
        context.log.warn({ org_id: terms.org_id, error }, 'plans: a notice failed, it is tried again'),
      );
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.org_id;
  }
}
