// Deletes rows of sign-in that are no longer needed.
import type { Db } from '../kernel/index.ts';
import { purgeSessions } from './sessions/store.ts';
import { purgeAttempts } from './sign-in/store.ts';
import { purgeSignUp } from './sign-up/store.ts';
import { purgeFlows } from './sso/connection-store.ts';
import { purgeStaffSessions } from './staff-store.ts';

/** Deletes lapsed sessions, challenges, links and counters; returns how many rows. An hourly job. */
export async function purgeSignIn(db: Db, at: Date): Promise<number> {
  const sessions = await purgeSessions(db, at);
  const staff = await purgeStaffSessions(db, at);
  const flows = await purgeFlows(db, at);
  const asked = await purgeSignUp(db, at);
  return sessions + staff + flows + asked + (await purgeAttempts(db, at));
}
