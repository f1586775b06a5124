// What ends a call and is no refusal: a defect of ours, or a body that nothing here can follow to its bottom.
import { type Log, type RequestId, ServiceError } from '../../../kernel/index.ts';
import { nestsDeeper } from '../../wire/scan.ts';

/** No schema and no arguments of use nest so deep; what reads and writes bodies follows them several times as far. */
const LEVELS_MAX = 1_000;

/**
 * `error` as the caller is told it. What is no refusal is a defect, logged whole and told as `internal`, unless the
 * stack has ended in a body made to end it: that is the body's fault, and no retry helps.
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
