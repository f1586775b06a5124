// Turns what an activity throws into a failure for Temporal. Refusals that cannot succeed later are not retried.
// Messages of a driver or a rail may hold a person's data, so none is stored in a history.
import { type Log, ServiceError } from '@svc/core/kernel/index.ts';
import { RailError } from '@svc/core/topups/index.ts';
import { ApplicationFailure, type Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

type FinalType = 'RailDeclined' | 'Validation' | 'NotFound' | 'StateConflict';

function finalType(error: ServiceError): FinalType {
  if (error.status === 404) return 'NotFound';
  return error.status === 409 ? 'StateConflict' : 'Validation';
}

/** The failure for `error`; non-retryable when the same call cannot succeed later. */
export function failureOf(error: unknown): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (error instanceof ServiceError) {
    if (error.retry) return ApplicationFailure.retryable(error.code, 'Unavailable');
    return ApplicationFailure.nonRetryable(error.code, finalType(error));
  }
  if (error instanceof RailError) {
    const { code } = error;
    if (error.declined) return ApplicationFailure.nonRetryable(code ?? 'declined', 'RailDeclined');
    return ApplicationFailure.retryable(code ?? 'the rail cannot be asked', 'RailUnavailable');
  }
  const code = (error as { code?: unknown } | null)?.code;
  const name = error instanceof Error ? error.name : 'unknown';
  return ApplicationFailure.retryable(typeof code === 'string' ? `${name} ${code}` : name, 'Fault');
}

/**
 * An interceptor that turns what activities throw into failures, logs the original error here, and counts runs by
 * outcome.
 */
export function tellFailures(
  log: Log,
  count: (activity: string, outcome: 'done' | 'failed') => void,
): ActivityInterceptorsFactory {
  return ({ info }: Context) => ({
    inbound: {
      async execute(input, next) {
        const { activityType: activity, attempt } = info;
        try {
          const result = await next(input);
          count(activity, 'done');
          return result;
        } catch (error) {
          count(activity, 'failed');
          const workflow_id = info.workflowExecution?.workflowId ?? null;
          log.warn({ activity, attempt, workflow_id, error }, 'activity failed');
          throw failureOf(error);
        }
      },
    },
  });
}
