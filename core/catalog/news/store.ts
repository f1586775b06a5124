// SQL of what organizations are told of the catalog.
import type { Db } from '../../kernel/index.ts';

/** What subscribers know it by: the event of webhooks. */
type NewsTopic = 'model.price_changed' | 'model.deprecated';

export interface NewNews {
  readonly topic: NewsTopic;
  readonly model_no: number;
  /** null: all endpoints of the model. */
  readonly endpoint_no: number | null;
  readonly effective_at: Date;
  readonly summary: string;
  /** The withdrawal that it is of, if any. */
  readonly withdrawal_no?: number;
}

/** Stores what all who use the models are to be known. */
export async function insertNews(db: Db, news: readonly NewNews[], at: Date): Promise<void> {
  if (news.length === 0) return;
  await db.query({
    name: 'catalog.insert_news',
    text: `
      insert into catalog.news (topic, model_no, endpoint_no, effective_at, summary, created_at, withdrawal_no)
      select topic, model_no, endpoint_no, effective_at, summary, $6, withdrawal_no
        from unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[], $5::text[], $7::int[])
             with ordinality as given (topic, model_no, endpoint_no, effective_at, summary, withdrawal_no, place)
       order by place`,
    values: [
      news.map(({ topic }) => topic),
      news.map(({ model_no }) => model_no),
      news.map(({ endpoint_no }) => endpoint_no),
      news.map(({ effective_at }) => effective_at),
      news.map(({ summary }) => summary),
      at,
      news.map(({ withdrawal_no }) => withdrawal_no ?? null),
    ],
  });
}

/** Those of `news` that say what no earlier ones said. Needs the lock. */
export async function withoutKnown(db: Db, news: readonly NewNews[]): Promise<NewNews[]> {
  if (news.length === 0) return [];
  const { rows } = await db.query<{ place: number }>({
    name: 'catalog.news_without_known',
    text: `
      select place::int from unnest($1::text[], $2::int[], $3::timestamptz[], $4::text[])
             with ordinality as given (topic, endpoint_no, effective_at, summary, place)
       where not exists (select from catalog.news known
                          where known.endpoint_no = given.endpoint_no and known.topic = given.topic
                            and known.effective_at = given.effective_at and known.summary = given.summary)`,
    values: [
      news.map(({ topic }) => topic),
      news.map(({ endpoint_no }) => endpoint_no),
      news.map(({ effective_at }) => effective_at),
      news.map(({ summary }) => summary),
    ],
  });
  const fresh = new Set(rows.map(({ place }) => place));
  return news.filter((_, at) => fresh.has(at + 1));
}

interface Deprecation {
  readonly is_deprecated: boolean;
  /** `YYYY-MM-DD`. */
  readonly deprecated_at: string | null;
  readonly retires_at: string | null;
}

/** What was last noted of each model of which anything was, by number. Needs the lock. */
export async function selectDeprecations(db: Db): Promise<Map<number, Deprecation>> {
  const { rows } = await db.query<Deprecation & { model_no: number }>({
    name: 'catalog.deprecations',
    text: `
      select distinct on (model_no) model_no, is_deprecated, deprecated_at::text, retires_at::text
        from catalog.deprecation order by model_no, deprecation_no desc`,
  });
  return new Map(rows.map(({ model_no, ...rest }) => [model_no, rest]));
}

/** Notes what models are from now on. */
export async function addDeprecations(
  db: Db,
  models: readonly (Deprecation & { readonly model_no: number })[],
  at: Date,
): Promise<void> {
  if (models.length === 0) return;
  await db.query({
    name: 'catalog.add_deprecations',
    text: `
      insert into catalog.deprecation (model_no, is_deprecated, deprecated_at, retires_at, noted_at)
      select *, $5 from unnest($1::int[], $2::bool[], $3::date[], $4::date[])`,
    values: [
      models.map(({ model_no }) => model_no),
      models.map(({ is_deprecated }) => is_deprecated),
      models.map(({ deprecated_at }) => deprecated_at),
      models.map(({ retires_at }) => retires_at),
      at,
    ],
  });
}

/** What some organizations were not told of yet. */
export interface UntoldNews {
  readonly news_no: number;
  readonly topic: NewsTopic;
  readonly model: string;
  readonly endpoint_id: string | null;
  readonly effective_at: Date;
  readonly summary: string;
  /** Organizations up to this one were told, in the order of their ids. */
  readonly announced_through: string;
}

/**
 * The oldest news that is untold, and others of its topic of which the same organizations were told, at most `limit` in all;
 * held until the transaction ends.
 */
export async function lockUntoldNews(db: Db, limit: number): Promise<UntoldNews[]> {
  const { rows } = await db.query<UntoldNews>({
    name: 'catalog.lock_untold_news',
    text: `
      select news.news_no, news.topic, model.id as model, endpoint.id as endpoint_id, news.effective_at, news.summary,
             news.announced_through
        from catalog.news
        join catalog.model using (model_no)
        left join catalog.endpoint using (endpoint_no)
       where (news.topic, news.announced_through) = (
               select first.topic, first.announced_through from catalog.news first
                where first.announced_through is not null order by first.news_no limit 1)
       order by news.news_no limit $1
         for update of news`,
    values: [limit],
  });
  return rows;
}

/** How far organizations were told of `news`; `through` null: all were. */
export async function setAnnouncedThrough(
  db: Db,
  news: readonly number[],
  through: string | null,
): Promise<void> {
  await db.query({
    name: 'catalog.set_announced_through',
    text: 'update catalog.news set announced_through = $2 where news_no = any ($1)',
    values: [news, through],
  });
}
