// SQL of what limits shadows. Days are of UTC, and each statement decides by itself, so that gateways need no lock.
import type { Db, Environment, Id } from '../../kernel/index.ts';

/** What the copies of one shadow are counted under. */
export interface ShadowDay {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
  /** Of the policy: its next version goes on with the count. */
  readonly name: string;
  readonly endpoint_id: string;
  readonly at: Date;
}

const DAY = "($5::timestamptz at time zone 'UTC')::date";

/** Counts one more copy of the day of `at`; false where there were `max` already. */
export async function takeShadow(db: Db, shadow: ShadowDay, max: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'policies.take_shadow',
    text: `
      insert into policy_shadow_day as d (org_id, environment, name, endpoint_id, day, runs)
      select $1, $2, $3, $4, ${DAY}, 1 where $6::int > 0
      on conflict (org_id, environment, name, endpoint_id, day) do update
         set runs = d.runs + 1 where d.runs < $6::int`,
    values: [shadow.org_id, shadow.environment, shadow.name, shadow.endpoint_id, shadow.at, max],
  });
  return rowCount === 1;
}

/** Takes back a copy that was counted and not made. */
export async function giveBackShadow(db: Db, shadow: ShadowDay): Promise<void> {
  await db.query({
    name: 'policies.give_back_shadow',
    text: `
      update policy_shadow_day set runs = runs - 1
       where org_id = $1 and environment = $2 and name = $3 and endpoint_id = $4 and day = ${DAY} and runs > 0`,
    values: [shadow.org_id, shadow.environment, shadow.name, shadow.endpoint_id, shadow.at],
  });
}

/** What the platform pays for shadows of the organization in a day; null: nothing. */
export async function findAllowance(db: Db, org_id: Id<'org'>): Promise<number | null> {
  const { rows } = await db.query<{ daily_micro_usd: number }>({
    name: 'policies.find_shadow_allowance',
    text: 'select daily_micro_usd from policy_shadow_allowance where org_id = $1',
    values: [org_id],
  });
  return rows[0]?.daily_micro_usd ?? null;
}

/** Sets that allowance; null ends it. */
export async function setAllowance(
  db: Db,
  args: { readonly org_id: Id<'org'>; readonly daily_micro_usd: number | null; readonly at: Date },
): Promise<void> {
  const { org_id, daily_micro_usd, at } = args;
  if (daily_micro_usd === null) {
    await db.query({
      name: 'policies.end_shadow_allowance',
      text: 'delete from policy_shadow_allowance where org_id = $1',
      values: [org_id],
    });
    return;
  }
  await db.query({
    name: 'policies.set_shadow_allowance',
    text: `
      insert into policy_shadow_allowance (org_id, daily_micro_usd, updated_at) values ($1, $2, $3)
      on conflict (org_id) do update set daily_micro_usd = excluded.daily_micro_usd, updated_at = excluded.updated_at`,
    values: [org_id, daily_micro_usd, at],
  });
}

/** What the platform reserves and spends for an organization on one day. */
export interface Spending {
  readonly org_id: Id<'org'>;
  readonly at: Date;
  /** By how much what is reserved of the allowance grows; below zero it shrinks. */
  readonly reserved_micro_usd: number;
  /** What copies cost that have ended. */
  readonly cost_micro_usd: number;
  /** Copies that have ended. */
  readonly runs: number;
}

/**
 * Books `spending` on the day of its `at`. With `within_allowance` false is answered, and nothing booked, where reserved and
 * spent would come to more than the allowance or there is none any more; without it what has happened is booked.
 */
export async function spendAllowance(
  db: Db,
  spending: Spending,
  within_allowance: boolean,
): Promise<boolean> {
  const { org_id, at, reserved_micro_usd, cost_micro_usd, runs } = spending;
  const { rowCount } = await db.query({
    name: 'policies.spend_shadow_allowance',
    text: `
      insert into policy_shadow_expense as e (org_id, day, reserved_micro_usd, cost_micro_usd, runs)
      select $1, ($2::timestamptz at time zone 'UTC')::date, greatest($3::bigint, 0), $4::bigint, $5::bigint
       where not $6::bool or exists (
         select from policy_shadow_allowance a where a.org_id = $1 and $3::bigint + $4::bigint <= a.daily_micro_usd)
      on conflict (org_id, day) do update
         set reserved_micro_usd = greatest(e.reserved_micro_usd + $3::bigint, 0),
             cost_micro_usd = e.cost_micro_usd + $4::bigint, runs = e.runs + $5::bigint
       where not $6::bool or exists (
         select from policy_shadow_allowance a
          where a.org_id = $1
            and e.reserved_micro_usd + e.cost_micro_usd + $3::bigint + $4::bigint <= a.daily_micro_usd)`,
    values: [org_id, at, reserved_micro_usd, cost_micro_usd, runs, within_allowance],
  });
  return rowCount === 1;
}

/** What is left of the allowance on the day of `at`; 0 without one. */
export async function allowanceLeft(db: Db, org_id: Id<'org'>, at: Date): Promise<number> {
  const { rows } = await db.query<{ left_micro_usd: number }>({
    name: 'policies.shadow_allowance_left',
    text: `
      select greatest(a.daily_micro_usd - coalesce(e.reserved_micro_usd + e.cost_micro_usd, 0), 0) as left_micro_usd
        from policy_shadow_allowance a
        left join policy_shadow_expense e
          on e.org_id = a.org_id and e.day = ($2::timestamptz at time zone 'UTC')::date
       where a.org_id = $1`,
    values: [org_id, at],
  });
  return rows[0]?.left_micro_usd ?? 0;
}

/** What shadows cost the platform on the day of `at`, and in the thirty days up to it. */
export async function readSpending(
  db: Db,
  org_id: Id<'org'>,
  at: Date,
): Promise<{
  readonly today_micro_usd: number;
  readonly month_micro_usd: number;
  readonly month_runs: number;
}> {
  const { rows } = await db.query<{ today_micro_usd: number; month_micro_usd: number; month_runs: number }>({
    name: 'policies.read_shadow_spending',
    text: `
      with today as (select ($2::timestamptz at time zone 'UTC')::date as day)
      select coalesce(sum(cost_micro_usd) filter (where e.day = today.day), 0)::bigint as today_micro_usd,
             coalesce(sum(cost_micro_usd), 0)::bigint as month_micro_usd, coalesce(sum(runs), 0)::bigint as month_runs
        from today left join policy_shadow_expense e
          on e.org_id = $1 and e.day > today.day - 30 and e.day <= today.day`,
    values: [org_id, at],
  });
  return rows[0] ?? { today_micro_usd: 0, month_micro_usd: 0, month_runs: 0 };
}

/** Drops counts of days that are over for longer than two days; what was spent is kept. Returns how many went. */
export async function dropShadowDays(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'policies.drop_shadow_days',
    text: `delete from policy_shadow_day where day < ($1::timestamptz at time zone 'UTC')::date - 2`,
    values: [at],
  });
  return rowCount ?? 0;
}
