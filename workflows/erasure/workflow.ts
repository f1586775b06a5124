// Erases one end user: batches until nothing is left, tried for seven days. Where a batch had come to is in the rows, so that a
// worker that takes over goes on from there.
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  defineQuery,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { showState } from '../search.ts';
import type { ErasureActivities, ErasureArgs } from './activities.ts';

type Progress = Awaited<ReturnType<ErasureActivities['eraseSubject']>>;

export interface ErasureState extends ErasureArgs {
  readonly status: Progress['status'] | 'starting';
  readonly records: number;
}

export const state = defineQuery<ErasureState>('state');

const retry: ActivityOptions['retry'] = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '1 hour',
  nonRetryableErrorTypes: ['NotFound'],
};
const { eraseSubject } = proxyActivities<ErasureActivities>({
  scheduleToCloseTimeout: '7 days',
  startToCloseTimeout: '1 day',
  // A worker that is killed in a batch is missed after this time.
  heartbeatTimeout: '30 seconds',
  retry,
  summary: 'unlink calls and delete their content',
});
const { failErasure } = proxyActivities<ErasureActivities>({
  startToCloseTimeout: '30 seconds',
  retry,
  summary: 'a person must look',
});

/** Whether the erasure is given up after this failed activity; it is an error when there is no such request. */
function isGivenUp(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

/** The workflow of an erasure. Its id is `erasure-{dsr}`, its task queue `work`. */
export async function erasure(args: ErasureArgs): Promise<ErasureState> {
  let now: ErasureState = { ...args, status: 'starting', records: 0 };
  setHandler(state, () => now);
  try {
    const { status, records } = await eraseSubject(args);
    now = { ...args, status, records };
  } catch (error) {
    if (!isGivenUp(error)) throw error;
    const { status, records } = await failErasure(args);
    now = { ...args, status, records };
  }
  showState(now.status);
  return now;
}
