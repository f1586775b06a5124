// Which errors mean "PostgreSQL cannot be asked now". They become 503 `service_unavailable`, never an
// authentication fault and never a 500 (docs/errors.md).
import { ServiceError } from '../kernel/index.ts';

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** SQLSTATE classes: connection, resources (disk, memory, connections), operator intervention. */
const CLASSES = new Set(['08', '53', '57']);
/** The driver's own errors carry no code. */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/;

/** Whether `error` says that the database is away or refuses work, as against a fault of the statement. */
export function isDatabaseFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some((inner) => isDatabaseFault(inner));
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return MESSAGES.test(error.message);
  if (NETWORK.has(code)) return true;
  // 25006: a demoted primary answers "read-only transaction".
  return code.length === 5 && (CLASSES.has(code.slice(0, 2)) || code === '25006');
}

/** What a caller is told while the database cannot be asked, whatever was to be read there. */
export function databaseAway(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'The service cannot reach its database. Try again shortly.',
    { details: { component: 'postgres' }, retry_after_ms: 1_000 },
  );
}
