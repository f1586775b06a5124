// What leaves the files and comes back. While a release is rolled out, processes with the files before and those with the files
// after load by turns; so what left counts once it has been away for an hour, and what is back once it has been there for one.
import type { Db } from '../../kernel/index.ts';
import { lockCatalog } from '../store.ts';
import {
  closeWithdrawals,
  findDueWithdrawals,
  insertWithdrawals,
  keepOffered,
  type Place,
  reopenWithdrawals,
  selectLeft,
} from './offer-store.ts';
import { insertNews, type NewNews } from './store.ts';

const HOUR_MS = 3_600_000;
/** News of one turn. */
const DUE_MAX = 1_000;

const keyOf = ({ model_no, endpoint_no }: Place) => `${model_no} ${endpoint_no}`;
/** The models of `places`, as a whole. */
const wholes = (places: readonly Place[]): Place[] =>
  [...new Set(places.map(({ model_no }) => model_no))].map((model_no) => ({ model_no, endpoint_no: null }));

/**
 * Notes which endpoints the files that are being loaded offer, against those of the load before: what left, and what is
 * back. Needs the lock.
 */
export async function noteOffered(
  db: Db,
  offered: readonly { readonly model_no: number; readonly endpoint_no: number }[],
  at: Date,
): Promise<void> {
  const hour_ago = new Date(at.getTime() - HOUR_MS);
  const left = await selectLeft(
    db,
    offered.map(({ endpoint_no }) => endpoint_no),
  );
  const came = await keepOffered(db, offered, left);
  if (came.length > 0) await closeWithdrawals(db, [...came, ...wholes(came)], { at, hour_ago });
  const there = new Set(offered.map(({ model_no }) => model_no));
  const away = [...left, ...wholes(left).filter(({ model_no }) => !there.has(model_no))];
  if (away.length === 0) return;
  const reopened = new Set((await reopenWithdrawals(db, away, hour_ago)).map(keyOf));
  await insertWithdrawals(
    db,
    away.filter((place) => !reopened.has(keyOf(place))),
    at,
  );
}

/** Makes news of what left the files an hour before `at` or earlier, each once; returns how many that are. */
export async function noteWithdrawals(db: Db, at: Date): Promise<number> {
  const due = { hour_ago: new Date(at.getTime() - HOUR_MS), limit: DUE_MAX };
  if ((await findDueWithdrawals(db, due)).length === 0) return 0;
  await lockCatalog(db);
  // Read again: another process may have told of it, or a load found it back, before the lock was ours.
  const found = await findDueWithdrawals(db, due);
  const news = found.map(
    ({ left_at, ...rest }): NewNews => ({ ...rest, topic: 'model.deprecated', effective_at: left_at }),
  );
  await insertNews(db, news, at);
  return news.length;
}
