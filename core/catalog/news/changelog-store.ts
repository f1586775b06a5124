// SQL of what changed at a model, and of which model an endpoint serves.
import type { Db } from '../../kernel/index.ts';
import { SANDBOX } from '../merge.ts';

type ChangeKind = 'added' | 'price' | 'deprecated' | 'retired' | 'endpoint';

interface ModelChange {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly summary: string;
  /** null: the model as a whole. */
  readonly endpoint_id: string | null;
  readonly effective_at: Date;
  readonly created_at: Date;
}

const CHANGES_MAX = 100;

/**
 * What changed at `model` up to `at`, or was announced by then, newest first. The sandbox's stand-ins are no change,
 * and what left the files or came back is one once it lasted an hour (`offer.ts`).
 */
export async function readChangelog(db: Db, of: { model: string; at: Date }): Promise<ModelChange[]> {
  const { rows } = await db.query<ModelChange>({
    name: 'catalog.read_changelog',
    text: `
      with found as (select model_no, created_at from catalog.model where id = $1),
      last_dates as (
        select deprecation_no, is_deprecated, retires_at, noted_at
          from catalog.deprecation join found using (model_no)
         order by deprecation_no desc limit 1)
      select 'added-' || model_no as id, 'added' as kind, 'The model is offered.' as summary,
             null as endpoint_id, created_at as effective_at, created_at
        from found
      union all
      select 'endpoint-' || endpoint_no, 'endpoint',
             format('Offered at %s too, in region %s.', provider, region), endpoint.id,
             endpoint.created_at, endpoint.created_at
        from catalog.endpoint join found using (model_no)
       where endpoint.created_at > found.created_at and provider <> $3
      union all
      select 'news-' || news_no, case topic when 'model.deprecated' then 'deprecated' else 'price' end, summary,
             endpoint.id, effective_at, news.created_at
        from catalog.news join found using (model_no)
        left join catalog.endpoint using (endpoint_no)
       where withdrawal_no is null
      union all
      select 'withdrawn-' || withdrawal_no, case when endpoint_no is null then 'retired' else 'endpoint' end, summary,
             endpoint_id, left_at, left_at + interval '1 hour'
        from catalog.withdrawal_shown join found using (model_no)
       where left_at + interval '1 hour' <= $2 and not after_retirement
      union all
      select 'returned-' || withdrawal_no, case when endpoint_no is null then 'added' else 'endpoint' end,
             returned_summary, endpoint_id, returned_at, returned_at + interval '1 hour'
        from catalog.withdrawal_shown join found using (model_no)
       where returned_at + interval '1 hour' <= $2
      union all
      select 'retired-' || deprecation_no, 'retired', 'The model is not called any more.', null,
             retires_at::timestamp at time zone 'UTC', retires_at::timestamp at time zone 'UTC'
        from last_dates
       where is_deprecated and retires_at <= ($2::timestamptz at time zone 'UTC')::date
       order by created_at desc, id desc limit ${CHANGES_MAX}`,
    values: [of.model, of.at, SANDBOX],
  });
  return rows;
}

/** The model that each of `endpoint_ids` serves, or served; sandbox endpoints and unknown ones are absent. */
export async function modelsOfEndpoints(
  db: Db,
  endpoint_ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; model: string }>({
    name: 'catalog.models_of_endpoints',
    text: `
      select endpoint.id, model.id as model
        from catalog.endpoint join catalog.model using (model_no)
       where endpoint.id = any ($1) and endpoint.provider <> $2`,
    values: [endpoint_ids, SANDBOX],
  });
  return new Map(rows.map(({ id, model }) => [id, model]));
}
