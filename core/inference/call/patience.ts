// How long a call waits for the database where it does not wait by way of the ledger's batchers: one that takes connections
// and does not answer is as good as away (docs/outcomes.md#the-gateway-itself).
import { ServiceError, within } from '../../kernel/index.ts';

/** As long as for a hold, and as long as for a settle (core/ledger). */
const ASK_MS = 3_000;
const KEEP_MS = 1_000;
const DATABASE = 'the database';

/** The refusal of a call that cannot be decided without the database: nothing was held. */
export function ledgerUnavailable(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'The ledger cannot be reached; no call is made unpaid. Try again.',
    { details: { component: 'ledger' }, retry_after_ms: 1_000 },
  );
}

/** The answer of `question`, without which no call can begin. @throws ServiceError service_unavailable when it takes too long. */
export function askBefore<T>(asked: Promise<T>): Promise<T> {
  return within(ASK_MS, asked, DATABASE).catch(() => {
    throw ledgerUnavailable();
  });
}

/**
 * What belongs to the caller's organisation. @throws ServiceError what reading it says, service_unavailable when it is not
 * read in time.
 */
export function readBefore<T>(asked: Promise<T>): Promise<T> {
  return within(ASK_MS, asked, DATABASE).catch((error: unknown) => {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('service_unavailable', 'The database does not answer. Try again.', {
      details: { component: 'postgres' },
      retry_after_ms: 1_000,
    });
  });
}

/** What is stored beside an answer that waits for it. @throws Error when that takes longer than an answer may wait. */
export function keepBeside<T>(stored: Promise<T>): Promise<T> {
  return within(KEEP_MS, stored, DATABASE);
}
