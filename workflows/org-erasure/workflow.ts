// The erasure of an organization: reminders, the beginning when it is due, and batches until nothing is left. What is done next is
// decided from rows at each look, so that a worker that takes over goes on from there.
import {
  ActivityFailure,
  type ActivityOptions,
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { showState } from '../search.ts';
import type { OrgErasureActivities, OrgErasureArgs } from './activities.ts';

type Progress = Awaited<ReturnType<OrgErasureActivities['eraseOrg']>>;

export interface OrgErasureState extends OrgErasureArgs {
  readonly status: Progress['status'] | 'starting';
  readonly step: number;
}

/** It was asked for once more after it had been taken back. */
const asked = defineSignal('asked');
const cancelled = defineSignal('cancelled');
/** Sent when the installation's clock was moved (development). */
const clockMoved = defineSignal('clock_moved');
export const state = defineQuery<OrgErasureState>('state');

const retry: ActivityOptions['retry'] = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '1 hour',
  nonRetryableErrorTypes: ['NotFound'],
};
const quick: ActivityOptions = { startToCloseTimeout: '30 seconds', retry };
const { lookAtErasure } = proxyActivities<OrgErasureActivities>({ ...quick, summary: 'what is due' });
const { eraseOrg } = proxyActivities<OrgErasureActivities>({
  scheduleToCloseTimeout: '7 days',
  startToCloseTimeout: '1 day',
  // A worker that is killed in a batch is missed after this time.
  heartbeatTimeout: '30 seconds',
  retry,
  summary: 'delete table by table',
});
const { reportErasure } = proxyActivities<OrgErasureActivities>({
  ...quick,
  summary: 'a person must look',
});

/** Whether an activity has failed for all of its time; there is no such erasure otherwise. */
function isGivenUp(error: unknown): boolean {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) return false;
  return !(error.cause instanceof ApplicationFailure && error.cause.type === 'NotFound');
}

async function erase(args: OrgErasureArgs): Promise<Progress> {
  for (;;) {
    try {
      return await eraseOrg(args);
    } catch (error) {
      if (!isGivenUp(error)) throw error;
      await reportErasure(args);
    }
  }
}

/** The workflow of an erasure. Its id is `orgerase-{org}`, its task queue `work`. */
export async function orgErasure(args: OrgErasureArgs): Promise<OrgErasureState> {
  let now: OrgErasureState = { ...args, status: 'starting', step: 0 };
  let news = 0;
  for (const signal of [asked, cancelled, clockMoved]) setHandler(signal, () => void news++);
  setHandler(state, () => now);
  for (;;) {
    const seen = news;
    const look = await lookAtErasure(args);
    const found = look.status === 'running' ? await erase(args) : look;
    now = { ...args, status: found.status, step: found.step };
    showState(found.status);
    setCurrentDetails(`${found.status}; ${found.step} steps done`);
    if (news !== seen) continue;
    if (found.status === 'cancelled' || found.status === 'completed') return now;
    await condition(() => news !== seen, look.wait_ms, { summary: 'until it is looked at again' });
  }
}
