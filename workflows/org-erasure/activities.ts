// The side effects of the workflow `orgErasure`: batches, each a transaction of core, with heartbeats between and during them.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import {
  eraseOrgBatch,
  lookAtErasure,
  type OrgErasureProgress,
  reportErasure,
} from '@svc/core/org-erasure/index.ts';
import { heartbeat } from '@temporalio/activity';

export interface OrgErasureArgs {
  readonly org_id: Id<'org'>;
}

export interface OrgErasureActivities {
  lookAtErasure(args: OrgErasureArgs): Promise<OrgErasureProgress>;
  eraseOrg(args: OrgErasureArgs): Promise<OrgErasureProgress>;
  reportErasure(args: OrgErasureArgs): Promise<OrgErasureProgress>;
}

/** A third of the time after which a worker is missed that says nothing. */
const BEAT_MS = 10_000;

/** The activities; each run gets its context from `open`. */
export function orgErasureActivities(open: () => Context, beat_ms = BEAT_MS): OrgErasureActivities {
  return {
    lookAtErasure: (args) => lookAtErasure(open(), args),
    async eraseOrg(args) {
      let step = 0;
      // A batch that reads a whole audit log may take longer than a silent worker is waited for.
      const beats = setInterval(() => heartbeat(step), beat_ms);
      try {
        for (;;) {
          const progress = await eraseOrgBatch(open(), args);
          if (progress.status !== 'running') return progress;
          step = progress.step;
          heartbeat(step);
        }
      } finally {
        clearInterval(beats);
      }
    },
    reportErasure: (args) => reportErasure(open(), args),
  };
}
