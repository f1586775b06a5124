// Telling organizations what changed in models that they use: a hundred subscribers in each transaction, so that whoever is
// interrupted goes on where it stopped and tells nobody twice.
import { postgresReader, type RowReader } from '../analytics/index.ts';
import { lockUntoldNews, noteWithdrawals, setAnnouncedThrough, type UntoldNews } from '../catalog/index.ts';
import type { Pool } from '../db/index.ts';
import { type Db, type Id, now } from '../kernel/index.ts';
import { type NewFact, writeEvents } from '../ledger/index.ts';
import { orgsOfResellers } from '../orgs/index.ts';
import { listSubscribers } from '../webhooks/index.ts';

/** Organizations of one transaction, and changes that they are told of in it: at most their product of facts. */
const ORGS = 100;
const NEWS = 50;
/** Most transactions of one run, so that the leader can stop during a long backlog. */
const TURNS_MAX = 200;
const USED_DAYS = 30;

/** What a customer of a reseller is told of a price: ours, before and after, would tell what the reseller adds. */
const OWN_PRICE = 'The price changes; GET /v1/models has yours.';

interface Hearer {
  readonly org_id: Id<'org'>;
  readonly of_reseller: boolean;
}

function factOf(news: UntoldNews, { org_id, of_reseller }: Hearer, at: Date): NewFact {
  const { topic, model, endpoint_id } = news;
  const summary = of_reseller && topic === 'model.price_changed' ? OWN_PRICE : news.summary;
  const payload = { model, endpoint_id, effective_at: news.effective_at.toISOString(), summary };
  return { org_id, topic, payload, at };
}

/** Tells the next subscribers of `news`, all of one topic that stand at one organization; returns how many facts that were. */
async function tellNext(db: Db, reader: RowReader, news: readonly UntoldNews[]): Promise<number> {
  const [first] = news;
  if (first === undefined) return 0;
  const at = now();
  const org_ids = await listSubscribers(db, {
    type: first.topic,
    after: first.announced_through,
    limit: ORGS,
  });
  const since = new Date(at.getTime() - USED_DAYS * 86_400_000);
  const models = [...new Set(news.map(({ model }) => model))];
  const used = await reader.listModelsUsed({ org_ids, models, since });
  const of_resellers = await orgsOfResellers(db, org_ids);
  const facts = org_ids.flatMap((org_id) =>
    news
      .filter(({ model }) => used.get(org_id)?.includes(model))
      .map((one) => factOf(one, { org_id, of_reseller: of_resellers.has(org_id) }, at)),
  );
  await writeEvents(db, facts);
  const through = org_ids.length < ORGS ? null : (org_ids.at(-1) as string);
  await setAnnouncedThrough(
    db,
    news.map(({ news_no }) => news_no),
    through,
  );
  return facts.length;
}

/** Tells organizations of what the catalog noted, and returns how many events that were. */
export async function tellOfModels(pool: Pool, reader?: RowReader): Promise<number> {
  await pool.transaction((db) => noteWithdrawals(db, now()));
  let announced = 0;
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const facts = await pool.transaction(async (db) => {
      const news = await lockUntoldNews(db, NEWS);
      return news.length === 0 ? null : tellNext(db, reader ?? postgresReader(db), news);
    });
    if (facts === null) break;
    announced += facts;
  }
  return announced;
}
