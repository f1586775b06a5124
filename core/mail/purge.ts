// How long mails are kept (docs/operate/mail.md#what-is-kept).
import { type Db, now } from '../kernel/index.ts';
import { deleteMails } from './store.ts';

const KEPT_MS = 90 * 24 * 3_600_000;

/** Deletes mails that ended, 90 days after they were asked for; returns how many. An hourly job. */
export function purgeMails(db: Db): Promise<number> {
  return deleteMails(db, new Date(now().getTime() - KEPT_MS));
}
