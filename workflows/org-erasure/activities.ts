// The side effects of the workflow `orgErasure`: batches, each a transaction of core, with a heartbeat after each.
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

/** The activities; each run gets its context from `open`. */
export function orgErasureActivities(open: () => Context): OrgErasureActivities {
  return {
    lookAtErasure: (args) => lookAtErasure(open(), args),
    async eraseOrg(args) {
      for (;;) {
        const progress = await eraseOrgBatch(open(), args);
        if (progress.status !== 'running') return progress;
        heartbeat(progress.step);
      }
    },
    reportErasure: (args) => reportErasure(open(), args),
  };
}
