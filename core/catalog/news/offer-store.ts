// SQL of what left the files and came back.
import type { Db } from '../../kernel/index.ts';

/** An endpoint, or with null the model as a whole. */
export interface Place {
  readonly model_no: number;
  readonly endpoint_no: number | null;
}

const columnsOf = (places: readonly Place[]) => [
  places.map(({ model_no }) => model_no),
  places.map(({ endpoint_no }) => endpoint_no),
];

/** Endpoints that the last load offered and that are not among `offered`. Needs the lock. */
export async function selectLeft(db: Db, offered: readonly number[]): Promise<Place[]> {
  const { rows } = await db.query<Place>({
    name: 'catalog.select_left',
    text: `
      select model_no, endpoint_no from catalog.offered
       where not (endpoint_no = any ($1)) order by endpoint_no`,
    values: [offered],
  });
  return rows;
}

/** Keeps what is offered from now on, without `left`, and returns what was not offered before. Needs the lock. */
export async function keepOffered(
  db: Db,
  offered: readonly Place[],
  left: readonly Place[],
): Promise<Place[]> {
  const { rows } = await db.query<Place>({
    name: 'catalog.keep_offered',
    text: `
      with gone as (delete from catalog.offered where endpoint_no = any ($3))
      insert into catalog.offered (model_no, endpoint_no)
      select model_no, endpoint_no from unnest($1::int[], $2::int[]) as given (model_no, endpoint_no)
          on conflict (endpoint_no) do nothing
      returning model_no, endpoint_no`,
    values: [...columnsOf(offered), left.map(({ endpoint_no }) => endpoint_no)],
  });
  return rows;
}

/** Notes from when on `places` are not offered. Needs the lock. */
export async function insertWithdrawals(db: Db, places: readonly Place[], at: Date): Promise<void> {
  await db.query({
    name: 'catalog.insert_withdrawals',
    text: `
      insert into catalog.withdrawal (model_no, endpoint_no, left_at, after_retirement)
      select given.model_no, given.endpoint_no, $3,
             coalesce(last.is_deprecated and last.retires_at <= ($3::timestamptz at time zone 'UTC')::date, false)
        from unnest($1::int[], $2::int[]) with ordinality as given (model_no, endpoint_no, place)
        left join lateral (
               select is_deprecated, retires_at from catalog.deprecation
                where deprecation.model_no = given.model_no
                order by deprecation_no desc limit 1) last on true
       order by place`,
    values: [...columnsOf(places), at],
  });
}

/** Takes it that `places` were never back where they came back after `hour_ago`, and returns these. Needs the lock. */
export async function reopenWithdrawals(db: Db, places: readonly Place[], hour_ago: Date): Promise<Place[]> {
  const { rows } = await db.query<Place>({
    name: 'catalog.reopen_withdrawals',
    text: `
      update catalog.withdrawal set returned_at = null
        from unnest($1::int[], $2::int[]) as given (model_no, endpoint_no)
       where withdrawal.model_no = given.model_no
         and withdrawal.endpoint_no is not distinct from given.endpoint_no
         and withdrawal.returned_at > $3
      returning withdrawal.model_no, withdrawal.endpoint_no`,
    values: [...columnsOf(places), hour_ago],
  });
  return rows;
}

/** Notes that `places` are offered again; of those that were away for less than an hour nothing is kept. Needs the lock. */
export async function closeWithdrawals(
  db: Db,
  places: readonly Place[],
  { at, hour_ago }: { at: Date; hour_ago: Date },
): Promise<void> {
  await db.query({
    name: 'catalog.drop_short_withdrawals',
    text: `
      delete from catalog.withdrawal
       using unnest($1::int[], $2::int[]) as given (model_no, endpoint_no)
       where withdrawal.model_no = given.model_no
         and withdrawal.endpoint_no is not distinct from given.endpoint_no
         and withdrawal.returned_at is null and withdrawal.left_at > $3
         and not exists (select from catalog.news where news.withdrawal_no = withdrawal.withdrawal_no)`,
    values: [...columnsOf(places), hour_ago],
  });
  await db.query({
    name: 'catalog.close_withdrawals',
    text: `
      update catalog.withdrawal
         set returned_at = greatest($3, withdrawal.left_at + interval '1 millisecond')
        from unnest($1::int[], $2::int[]) as given (model_no, endpoint_no)
       where withdrawal.model_no = given.model_no
         and withdrawal.endpoint_no is not distinct from given.endpoint_no
         and withdrawal.returned_at is null`,
    values: [...columnsOf(places), at],
  });
}

/** Models that are in no file any more, with when they left. */
export async function listWithdrawn(db: Db): Promise<{ readonly id: string; readonly left_at: Date }[]> {
  const { rows } = await db.query<{ id: string; left_at: Date }>({
    name: 'catalog.list_withdrawn',
    text: `
      select model.id, left_at from catalog.withdrawal join catalog.model using (model_no)
       where endpoint_no is null and returned_at is null`,
  });
  return rows;
}

interface DueWithdrawal extends Place {
  readonly withdrawal_no: number;
  readonly left_at: Date;
  readonly summary: string;
}

/**
 * What left at or before `hour_ago`, is not back, and is not news yet. An endpoint that left with its whole model is none, and
 * neither is a model whose last day had come.
 */
export async function findDueWithdrawals(
  db: Db,
  { hour_ago, limit }: { hour_ago: Date; limit: number },
): Promise<DueWithdrawal[]> {
  const { rows } = await db.query<DueWithdrawal>({
    name: 'catalog.find_due_withdrawals',
    text: `
      select withdrawal_no, model_no, endpoint_no, left_at, summary
        from catalog.withdrawal_shown
       where returned_at is null and left_at <= $1 and not after_retirement
         and not exists (select from catalog.news where news.withdrawal_no = withdrawal_shown.withdrawal_no)
       order by withdrawal_no limit $2`,
    values: [hour_ago, limit],
  });
  return rows;
}
