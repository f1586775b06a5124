// The side effects of the workflow `erasure`: batches, each a transaction of core, with a heartbeat after each.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { type ErasureProgress, eraseBatch, failErasure } from '@svc/core/privacy/index.ts';
import { heartbeat } from '@temporalio/activity';

export interface ErasureArgs {
  readonly dsr_id: Id<'data_subject_request'>;
}

export interface ErasureActivities {
  eraseSubject(args: ErasureArgs): Promise<ErasureProgress>;
  failErasure(args: ErasureArgs): Promise<ErasureProgress>;
}

/** The activities; each run gets its context from `open`. */
export function erasureActivities(open: () => Context): ErasureActivities {
  return {
    async eraseSubject(args) {
      for (;;) {
        const progress = await eraseBatch(open(), args);
        if (progress.status !== 'running') return progress;
        heartbeat(progress.records);
      }
    },
    failErasure: (args) => failErasure(open(), args),
  };
}
