// Deletes rows of sign-in that are no longer needed, and what is past its time of the audit log.
import type { Db } from '../kernel/index.ts';
import { purgeAccess } from './access/store.ts';
import { dropAuditDays } from './audit/store.ts';
import { purgeLooks } from './looks/store.ts';
import { purgeEmailChanges } from './profile/store.ts';
import { purgeAssertions } from './saml/store.ts';
import { purgeLog } from './scim/token-store.ts';
import { purgeSessions } from './sessions/store.ts';
import { purgeAttempts } from './sign-in/store.ts';
import { purgeSignUp } from './sign-up/store.ts';
import { purgeFlows } from './sso/connection-store.ts';
import { purgeStaffSessions } from './staff-store.ts';

const DAY_MS = 86_400_000;
const LOG_MS = 90 * DAY_MS;
const AUDIT_MS = 730 * DAY_MS;
const CHAINS = 500;

/**
 * Deletes lapsed sessions, challenges, links and counters, and the old log of directories; returns how many rows. An
 * hourly job.
 */
export async function purgeSignIn(db: Db, at: Date): Promise<number> {
  const sessions = (await purgeSessions(db, at)) + (await purgeLooks(db, at));
  const staff = await purgeStaffSessions(db, at);
  const flows = (await purgeFlows(db, at)) + (await purgeAssertions(db, at));
  const signUp =
    (await purgeSignUp(db, at)) + (await purgeAccess(db, at)) + (await purgeEmailChanges(db, at));
  const log = await purgeLog(db, new Date(at.getTime() - LOG_MS));
  return sessions + staff + flows + signUp + log + (await purgeAttempts(db, at));
}

/** Deletes the days of the audit log that are past its time at `at`, whole chains each; returns how many entries. An hourly job. */
export async function purgeAudit(db: Db, at: Date): Promise<number> {
  const before = new Date(at.getTime() - AUDIT_MS).toISOString().slice(0, 10);
  let purged = 0;
  for (let more = true; more; ) {
    const n = await dropAuditDays(db, { before, chains: CHAINS });
    purged += n;
    more = n > 0;
  }
  return purged;
}
