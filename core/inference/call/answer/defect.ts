// Errors that end a call and are not refusals: a defect of ours, or a body that is nested too deeply to process.
import { type Log, type RequestId, ServiceError } from '../../../kernel/index.ts';
import { nestsDeeper } from '../../wire/scan.ts';

/**
 * No useful schema or argument is nested this deeply; the code that reads and writes bodies recurses several times as
 * far.
 */
const LEVELS_MAX = 1_000;

/**
 * The refusal that the caller gets for `error`. An error that is not a refusal is a defect: it is logged in full and
 * reported as `internal`, unless the stack overflowed on a body built to cause that. Then the body is at fault, and a
 * retry does not help.
 */
export function refusalFor(
  error: unknown,
  call: { readonly log: Log; readonly request_id: RequestId; readonly body: Buffer | null },
): ServiceError {
  if (error instanceof ServiceError) return error;
  const { log, request_id, body } = call;
  if (error instanceof RangeError && body !== null && nestsDeeper(body, LEVELS_MAX)) {
    return new ServiceError('invalid_json', `The body nests deeper than ${LEVELS_MAX} levels.`);
  }
  log.error({ request_id, error }, 'call failed');
  return new ServiceError('internal', 'The gateway failed. Nothing was charged; try again.');
}
