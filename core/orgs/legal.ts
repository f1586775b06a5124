// What an acceptance that is owed stops, and when. What is owed is the matter of core/legal, which stands below; all
// that is needed here is the moment since when, which a function of the database knows.
import { type Db, type Id, ServiceError } from '../kernel/index.ts';
import { findOutstandingSince } from './store.ts';

const DAY_MS = 86_400_000;
/** Money in and new keys stop so long after an acceptance is owed. */
const LEGAL_GRACE_DAYS = 14;
/** Calls stop so long after. */
const LEGAL_CALLS_DAYS = 60;

/** When an organization that owes an acceptance since `since` may make no more calls; null: it owes none. */
export function legalCallsEnd(since: Date | null): Date | null {
  return since === null ? null : new Date(since.getTime() + LEGAL_CALLS_DAYS * DAY_MS);
}

/**
 * Lets what brings money or keys pass unless the terms have been waiting for two weeks.
 * @throws ServiceError legal_acceptance_required.
 */
export async function refuseUnaccepted(
  context: { readonly db: Db; now(): Date },
  org_id: Id<'org'>,
): Promise<void> {
  const since = await findOutstandingSince(context.db, org_id);
  if (since === null) return;
  if (context.now().getTime() < since.getTime() + LEGAL_GRACE_DAYS * DAY_MS) return;
  throw new ServiceError(
    'legal_acceptance_required',
    'The terms in force have not been accepted. An owner accepts them in the console under Legal.',
    { details: { since: since.toISOString() } },
  );
}
