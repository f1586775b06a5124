// Says seven days and one day before that a key will end: an event, and for a live key a mail.
import { findMailboxes } from '../identity/index.ts';
import type { Context } from '../kernel/index.ts';
import { sendMail } from '../mail/index.ts';
import { findOrg, findProject } from '../orgs/index.ts';
import { writeKeyEvent } from './events.ts';
import { statusAt } from './grants/grant.ts';
import { type EndingKey, insertKeyNotice, listEndingKeys } from './notice-store.ts';
import { lockKey } from './store.ts';

const DAY_MS = 86_400_000;
/** Days before the end, the nearest first: a key that ends within a day gets that notice alone. */
const NOTICES = [1, 7] as const;
/** Keys that one statement reads. */
const PAGE = 500;

/** Owners, admins and who made the key, where that person is still a member. */
async function mailNotice(context: Context, key: EndingKey, days: number): Promise<void> {
  const { db } = context;
  const { org_id, created_by: also } = key;
  const org = await findOrg(db, org_id);
  const project = await findProject(db, { org_id, id: key.project_id });
  if (org === null || project === null) return;
  const expires_at = key.expires_at.toISOString();
  await sendMail(context, {
    template: 'key_expiring',
    to: await findMailboxes(db, { org_id, roles: ['owner', 'admin'], also }),
    org_id,
    reference: `${key.id}-${key.expires_at.getTime()}-${days}`,
    data: {
      org: org.name,
      slug: org.slug,
      key: key.name,
      hint: key.hint,
      project: project.name,
      expires_at,
    },
  });
}

/** One notice, in one transaction with its event and its mail; false when it is given, or the key ends otherwise now. */
function notify(context: Context, days: number, ending: EndingKey): Promise<boolean> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { id, org_id, expires_at } = ending;
    const at = context.now();
    // Held against a patch or a rotation that is under way: whoever reads the notice can rely on it.
    const key = await lockKey(db, { org_id, environment: null, id });
    const stands = key?.expires_at?.getTime() === expires_at.getTime() && statusAt(key, at) === 'active';
    if (key === null || !stands) return false;
    if (!(await insertKeyNotice(db, { key_id: id, expires_at, days, at }))) return false;
    await writeKeyEvent(context, 'key.expiring', key);
    if (key.environment === 'live') await mailNotice(context, ending, days);
    return true;
  });
}

/** Gives the notices that are due, each once; returns how many. A job. */
export async function notifyExpiringKeys(context: Context): Promise<number> {
  let given = 0;
  let after = context.now();
  for (const days of NOTICES) {
    const until = new Date(context.now().getTime() + days * DAY_MS);
    for (;;) {
      const found = await listEndingKeys(context.db, { after, until, days, limit: PAGE });
      let notices = 0;
      for (const ending of found) if (await notify(context, days, ending)) notices++;
      given += notices;
      // A page without a notice would come again: its keys changed meanwhile, and the next run sees them as they are.
      if (found.length < PAGE || notices === 0) break;
    }
    after = until;
  }
  return given;
}
