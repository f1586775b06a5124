// SQL of the plan that an organization has, and of the one that follows.
import type { Db, Id } from '../kernel/index.ts';
import type { PlanId } from './plans.ts';
import type { OrgStatus } from './types.ts';

/** The plan of an organization. */
export interface PlanTerms {
  readonly org_id: Id<'org'>;
  readonly status: OrgStatus;
  readonly plan_id: PlanId;
  /** Since when the plan is in force. */
  readonly since: Date;
  /** The plan that follows, and when; null: none. */
  readonly next_plan_id: PlanId | null;
  readonly next_plan_at: Date | null;
  /** Months that begin before have no fee and bring no credit; null: all have. */
  readonly free_until: Date | null;
}

const COLUMNS = `
  id as org_id, status, plan_id, coalesce(plan_since, created_at) as since, next_plan_id, next_plan_at,
  plan_free_until as free_until`;

/** The plan of an organization. @throws Error when there is no such organization. */
export async function readPlanTerms(db: Db, org_id: Id<'org'>): Promise<PlanTerms> {
  const { rows } = await db.query<PlanTerms>({
    name: 'orgs.read_plan',
    text: `select ${COLUMNS} from org where id = $1`,
    values: [org_id],
  });
  if (rows[0] === undefined) throw new Error(`there is no organization ${org_id}`);
  return rows[0];
}

/** Organizations that are on a plan other than pay as you go and are not closed, by id, beyond `after`. */
export async function listOnPlans(
  db: Db,
  args: { readonly after: string; readonly limit: number },
): Promise<PlanTerms[]> {
  const { rows } = await db.query<PlanTerms>({
    name: 'orgs.list_on_plans',
    text: `
      select ${COLUMNS} from org
       where plan_id <> 'payg' and status <> 'closed' and id > $1 order by id limit $2`,
    values: [args.after, args.limit],
  });
  return rows;
}

/** Puts an organization on a plan that it has from `since` on, without fee until `free_until`; none follows any more. */
export async function setPlan(
  db: Db,
  args: { org_id: Id<'org'>; plan_id: PlanId; since: Date; free_until: Date | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_plan',
    text: `
      update org
         set plan_id = $2, plan_since = $3, next_plan_id = null, next_plan_at = null, plan_free_until = $4,
             updated_at = $5
       where id = $1`,
    values: [args.org_id, args.plan_id, args.since, args.free_until, args.at],
  });
}

/** Sets until when the present plan has no fee; null: it has. */
export async function setPlanFree(
  db: Db,
  args: { org_id: Id<'org'>; free_until: Date | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_plan_free',
    text: 'update org set plan_free_until = $2, updated_at = $3 where id = $1',
    values: [args.org_id, args.free_until, args.at],
  });
}

/** Lets a plan follow from `next_plan_at` on. */
export async function schedulePlan(
  db: Db,
  args: { org_id: Id<'org'>; next_plan_id: PlanId; next_plan_at: Date; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.schedule_plan',
    text: 'update org set next_plan_id = $2, next_plan_at = $3, updated_at = $4 where id = $1',
    values: [args.org_id, args.next_plan_id, args.next_plan_at, args.at],
  });
}

/** Takes back that another plan follows. */
export async function unschedulePlan(db: Db, args: { org_id: Id<'org'>; at: Date }): Promise<void> {
  await db.query({
    name: 'orgs.unschedule_plan',
    text: `
      update org set next_plan_id = null, next_plan_at = null, updated_at = $2
       where id = $1 and next_plan_id is not null`,
    values: [args.org_id, args.at],
  });
}
