// Limits how long a call waits for the database when it does not go through the ledger's batchers. A database that
// accepts connections but does not answer is treated as unreachable (docs/outcomes.md#the-gateway-itself).
import { ServiceError, within } from '../../kernel/index.ts';

/** The same limit as for a hold and for a settle (core/ledger). */
const ASK_MS = 3_000;
const KEEP_MS = 1_000;
const DATABASE = 'the database';

/** The refusal of a call whose key the ledger does not know: the order that tells it waits for a shard that was away. */
export function ledgerUnaware(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'This key is new, and the ledger of its organization does not know it yet. Try again shortly.',
    { details: { component: 'ledger' }, retry_after_ms: 2_000 },
  );
}

/** The refusal of a call that cannot be decided without the database; nothing was held. */
export function ledgerUnavailable(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'The ledger cannot be reached, and no call is made that cannot be charged. Try again.',
    { details: { component: 'ledger' }, retry_after_ms: 1_000 },
  );
}

/**
 * The result of `asked`, without which no call can begin. @throws ServiceError service_unavailable when it takes too
 * long.
 */
export function askBefore<T>(asked: Promise<T>): Promise<T> {
  return within(ASK_MS, asked, DATABASE).catch(() => {
    throw ledgerUnavailable();
  });
}

/**
 * The result of `asked`, which belongs to the caller's organization. @throws ServiceError what reading it throws, or
 * service_unavailable when it takes too long.
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

/**
 * Waits for what is stored while an answer waits for it. @throws Error when that takes longer than an answer may
 * wait.
 */
export function keepBeside<T>(stored: Promise<T>): Promise<T> {
  return within(KEEP_MS, stored, DATABASE);
}
