// SQL of exchange rates that were fetched.
import type { Db, Id } from '../../kernel/index.ts';
import type { FetchedDay } from './parse.ts';
import type { FxKind } from './rates.ts';

/** The newest day of a source that is in force; null when there is none. */
export async function findNewestDay(db: Db, source: FxKind): Promise<FetchedDay | null> {
  const { rows } = await db.query<FetchedDay>({
    name: 'topups.find_newest_fx_day',
    text: `
      select fx_day::text as fx_day, rates from fx_day
       where source = $1 and state = 'in_force' order by fx_day desc limit 1`,
    values: [source],
  });
  return rows[0] ?? null;
}

/** Keeps a day; true when it is new. A day that is known stays as it was first told. */
export async function insertDay(
  db: Db,
  day: FetchedDay & { source: FxKind; state: 'in_force' | 'waiting'; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'topups.insert_fx_day',
    text: `
      insert into fx_day (source, fx_day, rates, state, fetched_at) values ($1, $2, $3, $4, $5)
      on conflict (source, fx_day) do nothing`,
    values: [day.source, day.fx_day, JSON.stringify(day.rates), day.state, day.at],
  });
  return rowCount === 1;
}

/** Puts a waiting day in force, and returns its source; null when none waits. */
export async function releaseDay(db: Db, args: { fx_day: string; at: Date }): Promise<FxKind | null> {
  const { rows } = await db.query<{ source: FxKind }>({
    name: 'topups.release_fx_day',
    text: `
      update fx_day set state = 'in_force', decided_at = $2
       where fx_day = $1::date and state = 'waiting'
      returning source`,
    values: [args.fx_day, args.at],
  });
  return rows[0]?.source ?? null;
}

/** A day of a source in whatever state; null when there is none. */
export async function findDay(
  db: Db,
  args: { source: FxKind; fx_day: string },
): Promise<(FetchedDay & { readonly state: 'in_force' | 'waiting' }) | null> {
  const { rows } = await db.query<FetchedDay & { state: 'in_force' | 'waiting' }>({
    name: 'topups.find_fx_day',
    text: `
      select fx_day::text as fx_day, rates, state from fx_day where source = $1 and fx_day = $2::date`,
    values: [args.source, args.fx_day],
  });
  return rows[0] ?? null;
}

/** Puts a day in force as staff set it, also one that waits; false where it is in force already. */
export async function setDay(
  db: Db,
  day: FetchedDay & { source: FxKind; approval_id: Id<'approval'>; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'topups.set_fx_day',
    text: `
      insert into fx_day (source, fx_day, rates, state, fetched_at, decided_at, approval_id)
      values ($1, $2::date, $3, 'in_force', $4, $4, $5)
      on conflict (source, fx_day) do update
         set rates = excluded.rates, state = 'in_force', decided_at = excluded.decided_at,
             approval_id = excluded.approval_id
       where fx_day.state = 'waiting'`,
    values: [day.source, day.fx_day, JSON.stringify(day.rates), day.at, day.approval_id],
  });
  return rowCount === 1;
}

/** When rates of a source were last asked for. */
interface FxFetch {
  /** The time of the schedule that was answered last. */
  readonly slot_at: Date | null;
  readonly tried_at: Date;
  readonly error: string | null;
}

/** The last try of a source; null before the first. */
export async function findFetch(db: Db, source: FxKind): Promise<FxFetch | null> {
  const { rows } = await db.query<FxFetch>({
    name: 'topups.find_fx_fetch',
    text: 'select slot_at, tried_at, error from fx_fetch where source = $1',
    values: [source],
  });
  return rows[0] ?? null;
}

/** Notes a try: the slot that it answered, or why it failed. */
export async function noteFetch(
  db: Db,
  args: { source: FxKind; slot_at: Date | null; tried_at: Date; error: string | null },
): Promise<void> {
  await db.query({
    name: 'topups.note_fx_fetch',
    text: `
      insert into fx_fetch (source, slot_at, tried_at, error) values ($1, $2, $3, $4)
      on conflict (source) do update
         set slot_at = coalesce(excluded.slot_at, fx_fetch.slot_at), tried_at = excluded.tried_at,
             error = excluded.error`,
    values: [args.source, args.slot_at, args.tried_at, args.error],
  });
}

/** A day of rates as it is kept. */
interface KeptDay extends FetchedDay {
  readonly state: 'in_force' | 'waiting';
  readonly fetched_at: Date;
  readonly decided_at: Date | null;
  /** Staff set it. */
  readonly is_set: boolean;
}

/** The newest days of a source, at most `limit`, those that wait for a person too. */
export async function listDays(db: Db, args: { source: FxKind; limit: number }): Promise<KeptDay[]> {
  const { rows } = await db.query<KeptDay>({
    name: 'topups.list_fx_days',
    text: `
      select fx_day::text as fx_day, rates, state, fetched_at, decided_at, approval_id is not null as is_set
        from fx_day where source = $1 order by fx_day desc limit $2`,
    values: [args.source, args.limit],
  });
  return rows;
}
