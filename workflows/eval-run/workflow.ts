// A run of an evaluation: page after page until none is left or the run begins no more calls, then its end. All that matters is
// in rows; this only says which page is next, so a history stays small however many cases there are.
import {
  defineQuery,
  defineSignal,
  isCancellation,
  makeContinueAsNewFunc,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { showState } from '../search.ts';
import type { EvalRunActivities, EvalRunArgs } from './activities.ts';

interface EvalRunState extends EvalRunArgs {
  /** Case at which the page under way begins. */
  readonly from: number;
  /** Answers since the run began; those of a page that was begun again count once. */
  readonly answers: number;
  readonly status: 'running' | 'ended';
}

/** What a run goes on with after it was continued as new. */
interface Continued extends EvalRunArgs {
  readonly from?: number;
  readonly answers?: number;
}

/** Answers after which the history begins anew. */
const ANSWERS_MAX = 2_000;

const cancel = defineSignal('cancel');
const state = defineQuery<EvalRunState>('state');

const retry = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;
const { runEvalPage } = proxyActivities<EvalRunActivities>({
  // A worker that was killed is missed after half a minute.
  heartbeatTimeout: '30 seconds',
  startToCloseTimeout: '20 hours',
  // Answers that were paid for are kept for a day.
  scheduleToCloseTimeout: '22 hours',
  retry: { ...retry, nonRetryableErrorTypes: ['NotFound'] },
  summary: 'a page of cases',
});
const { finishEvalRun } = proxyActivities<EvalRunActivities>({
  startToCloseTimeout: '5 minutes',
  retry,
  summary: 'score and end',
});

/** The workflow of a run. Its id is `eval-{er}`, its task queue `work`. */
export async function evalRun(args: Continued): Promise<EvalRunState> {
  const { run_id } = args;
  let now: EvalRunState = { run_id, from: args.from ?? 0, answers: args.answers ?? 0, status: 'running' };
  let cancelled = false;
  showState(now.status);
  setHandler(state, () => now);
  // The run's row says so too, and stops calls within a page; this spares the pages after it.
  setHandler(cancel, () => {
    cancelled = true;
  });
  const began_at = now.answers;
  let broken = false;
  for (let next: number | null = now.from; next !== null && !cancelled; ) {
    now = { ...now, from: next };
    setCurrentDetails(`${now.answers} answers; at case ${now.from}`);
    try {
      const page = await runEvalPage({ run_id, from: now.from });
      now = { ...now, answers: now.answers + page.answers };
      next = page.stopped ? null : page.next_case_no;
    } catch (error) {
      if (isCancellation(error)) throw error;
      broken = true;
      next = null;
    }
    if (next !== null && now.answers - began_at >= ANSWERS_MAX && !cancelled) {
      // The memo is given anew, so that nothing of the new history is under a key that was current long ago.
      const { memo } = workflowInfo();
      const goOn = makeContinueAsNewFunc<typeof evalRun>(memo === undefined ? {} : { memo });
      await goOn({ run_id, from: next, answers: now.answers });
    }
  }
  await finishEvalRun({ run_id, broken });
  now = { ...now, status: 'ended' };
  showState(now.status);
  return now;
}
