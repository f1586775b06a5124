// SQL of charges. Whoever writes one holds the lock of its organization.
import type { Db, Id } from '../kernel/index.ts';
import type { FeeNotice, PlanId } from '../orgs/index.ts';
import type { Charge, ChargeKey, ChargeStatus } from './types.ts';

const COLUMNS = `
  org_id, period::text as period, no, plan_id, fee_micro, included_micro, status, tries, mails, grace_until, created_at,
  settled_at`;

/** Writes a charge that the ledger is asked for; false when there is one of that name, or another one is open. */
export async function insertCharge(
  db: Db,
  charge: Pick<Charge, 'org_id' | 'period' | 'no' | 'plan_id' | 'fee_micro' | 'included_micro'> & {
    at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'plans.insert_charge',
    text: `
      insert into plan_charge (org_id, period, no, plan_id, fee_micro, included_micro, status, tries, created_at)
      values ($1, $2, $3, $4, $5, $6, 'pending', 1, $7)
      on conflict do nothing`,
    values: [
      ...[charge.org_id, charge.period, charge.no, charge.plan_id, charge.fee_micro, charge.included_micro],
      charge.at,
    ],
  });
  return rowCount === 1;
}

/** A charge; null when there is none of that name. */
export async function findCharge(db: Db, { org_id, period, no }: ChargeKey): Promise<Charge | null> {
  const { rows } = await db.query<Charge>({
    name: 'plans.find_charge',
    text: `select ${COLUMNS} from plan_charge where org_id = $1 and period = $2 and no = $3`,
    values: [org_id, period, no],
  });
  return rows[0] ?? null;
}

/** The charge of an organization that has not come to its end; null when there is none. */
export async function findOpenCharge(db: Db, org_id: Id<'org'>): Promise<Charge | null> {
  const { rows } = await db.query<Charge>({
    name: 'plans.find_open_charge',
    text: `select ${COLUMNS} from plan_charge where org_id = $1 and settled_at is null`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** What an organization was charged, newest first. */
export async function listCharges(db: Db, args: { org_id: Id<'org'>; limit: number }): Promise<Charge[]> {
  const { rows } = await db.query<Charge>({
    name: 'plans.list_charges',
    text: `select ${COLUMNS} from plan_charge where org_id = $1 order by period desc, no desc limit $2`,
    values: [args.org_id, args.limit],
  });
  return rows;
}

/** Those of `org_ids` whose month was charged, or for which another charge is open. */
export async function listCharged(
  db: Db,
  args: { period: string; org_ids: readonly string[] },
): Promise<Id<'org'>[]> {
  const { rows } = await db.query<{ org_id: Id<'org'> }>({
    name: 'plans.list_charged',
    text: `
      select org_id from plan_charge
       where org_id = any($1) and ((period = $2 and no = 0) or settled_at is null)`,
    values: [args.org_ids, args.period],
  });
  return rows.map(({ org_id }) => org_id);
}

/** How many upgrades an organization has tried in a month. */
export async function countUpgrades(db: Db, args: { org_id: Id<'org'>; period: string }): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'plans.count_upgrades',
    text: `select count(*)::int as n from plan_charge where org_id = $1 and period = $2 and no > 0`,
    values: [args.org_id, args.period],
  });
  return rows[0]?.n ?? 0;
}

/** Charges for which the ledger was asked, the longest waiting first. */
export async function listPending(db: Db, limit: number): Promise<Charge[]> {
  const { rows } = await db.query<Charge>({
    name: 'plans.list_pending',
    text: `select ${COLUMNS} from plan_charge where status = 'pending' order by created_at limit $1`,
    values: [limit],
  });
  return rows;
}

/** Charges whose days of grace are over, the longest waiting first. */
export async function listOverdue(db: Db, args: { at: Date; limit: number }): Promise<Charge[]> {
  const { rows } = await db.query<Charge>({
    name: 'plans.list_overdue',
    text: `
      select ${COLUMNS} from plan_charge
       where status = 'grace' and settled_at is null and grace_until <= $1 order by grace_until limit $2`,
    values: [args.at, args.limit],
  });
  return rows;
}

/** Brings a charge to its end. */
export async function closeCharge(
  db: Db,
  { org_id, period, no }: ChargeKey,
  end: { status: Extract<ChargeStatus, 'paid' | 'refused' | 'lapsed'>; at: Date },
): Promise<void> {
  await db.query({
    name: 'plans.close_charge',
    text: `
      update plan_charge set status = $4, settled_at = $5 where org_id = $1 and period = $2 and no = $3`,
    values: [org_id, period, no, end.status, end.at],
  });
}

/** Notes that the ledger is asked once more. */
export async function askAgain(db: Db, { org_id, period, no }: ChargeKey): Promise<void> {
  await db.query({
    name: 'plans.ask_again',
    text: `
      update plan_charge set status = 'pending', tries = tries + 1 where org_id = $1 and period = $2 and no = $3`,
    values: [org_id, period, no],
  });
}

/** Notes that there was not enough credit, and how many mails have said so. */
export async function keepInGrace(
  db: Db,
  { org_id, period, no }: ChargeKey,
  { grace_until, mails }: { grace_until: Date; mails: number },
): Promise<void> {
  await db.query({
    name: 'plans.keep_in_grace',
    text: `
      update plan_charge set status = 'grace', grace_until = $4, mails = $5
       where org_id = $1 and period = $2 and no = $3`,
    values: [org_id, period, no, grace_until, mails],
  });
}

/** Changes of the sheet of plans take turns until the transaction ends. */
export async function lockSheet(db: Db): Promise<void> {
  await db.query({
    name: 'plans.lock_sheet',
    text: `select pg_advisory_xact_lock(hashtextextended('plans sheet', 0))`,
    values: [],
  });
}

/** Whether an organization is on a plan, will be, or was charged for it in the month `period`. */
export async function hasPlanNow(db: Db, args: { plan_id: string; period: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'plans.has_plan_now',
    text: `
      select 1 from org where status <> 'closed' and (plan_id = $1 or next_plan_id = $1)
      union all
      select 1 from plan_charge where plan_id = $1 and period = $2
      limit 1`,
    values: [args.plan_id, args.period],
  });
  return rowCount > 0;
}

/** Lets the keys of every organization on a plan follow its limits (trigger `org_announces`). */
export async function announceLimits(db: Db, plan_id: string): Promise<void> {
  await db.query({
    name: 'plans.announce_limits',
    text: `update org set plan_id = plan_id where plan_id = $1 and status <> 'closed'`,
    values: [plan_id],
  });
}

type OrgNotice = FeeNotice & { readonly org_id: Id<'org'> };

/** What these organizations were told of fees that rise. */
export async function listNotices(db: Db, org_ids: readonly Id<'org'>[]): Promise<OrgNotice[]> {
  if (org_ids.length === 0) return [];
  const { rows } = await db.query<OrgNotice>({
    name: 'plans.list_notices',
    text: `
      select org_id, plan_id, sheet_from::text as sheet_from, fee_minor, begins_on::text as begins_on
        from plan_fee_notice where org_id = any($1)`,
    values: [org_ids],
  });
  return rows;
}

/** Notes that an organization is told of a rise; false when it was told before. */
export async function insertNotice(db: Db, notice: OrgNotice & { readonly at: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'plans.insert_notice',
    text: `
      insert into plan_fee_notice (org_id, plan_id, sheet_from, fee_minor, begins_on, created_at)
      values ($1, $2, $3, $4, $5, $6)
      on conflict do nothing`,
    values: [
      ...[notice.org_id, notice.plan_id, notice.sheet_from, notice.fee_minor, notice.begins_on],
      notice.at,
    ],
  });
  return rowCount === 1;
}

/** How many organizations that are not closed are on each plan. */
export async function countOnPlans(db: Db): Promise<{ plan_id: PlanId; orgs: number }[]> {
  const { rows } = await db.query<{ plan_id: PlanId; orgs: number }>({
    name: 'plans.count_on_plans',
    text: `select plan_id, count(*)::int as orgs from org where status <> 'closed' group by plan_id order by plan_id`,
  });
  return rows;
}
