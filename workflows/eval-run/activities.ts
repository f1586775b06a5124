// The side effects of the workflow `evalRun`: functions of core that can be repeated.
import { finishRun, type PageReport, runPage } from '@svc/core/evals/index.ts';
import type { Context } from '@svc/core/kernel/index.ts';
import { heartbeat } from '@temporalio/activity';

export interface EvalRunArgs {
  readonly run_id: string;
}

export interface EvalRunActivities {
  runEvalPage(args: EvalRunArgs & { from: number }): Promise<PageReport>;
  finishEvalRun(args: EvalRunArgs & { broken: boolean }): Promise<void>;
}

/** Well within the time after which Temporal gives the page to another worker. */
const BEAT_MS = 5_000;

/** The activities; each run gets its context from `open`. */
export function evalRunActivities(open: () => Context): EvalRunActivities {
  return {
    async runEvalPage(args) {
      const timer = setInterval(() => heartbeat(), BEAT_MS);
      try {
        return await runPage(open(), args, () => heartbeat());
      } finally {
        clearInterval(timer);
      }
    },
    finishEvalRun: (args) => finishRun(open(), args),
  };
}
