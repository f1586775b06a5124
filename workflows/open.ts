// Shows staff which workflows are open: a worker asks Temporal for them every quarter of a minute, and steps that fail are
// noted as they do. Staff read the rows; only workers talk to Temporal.
import type { Pool } from '@svc/core/db/index.ts';
import { type Log, now, type RootKeyRing } from '@svc/core/kernel/index.ts';
import {
  claimLook,
  clearStepFailure,
  noteStepFailure,
  replaceOpen,
} from '@svc/core/workflow-starts/index.ts';
import { ApplicationFailure, type Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { countUnderFormer } from './codec/keys.ts';

const TICK_MS = 5_000;
/** Of all workers together one looks this often. */
const LOOK_MS = 15_000;
/** More than these are not seen, and staff are told so. */
const SEEN_MAX = 10_000;
/** Temporal's own workflows run in the namespace too; their types have a prefix. */
const OF_TEMPORAL = /^temporal-sys/;

/** Kind and code of a failure, as Temporal keeps it (refusals.ts); null for one after which the step is not made again. */
function shortOf(error: unknown): string | null {
  if (!(error instanceof ApplicationFailure) || error.nonRetryable === true) return null;
  return `${error.type ?? error.name}: ${error.message}`;
}

/**
 * An interceptor around `tellFailures` that notes which steps fail, until they are done or given up. A step is not made again
 * for a note: where the database is away, only a line of the log says so.
 */
export function noteSteps(pool: Pool, log: Log): ActivityInterceptorsFactory {
  const note = (write: Promise<void>) =>
    write.catch((error: unknown) => log.debug({ error }, 'a step could not be noted'));
  return ({ info }: Context) => ({
    inbound: {
      async execute(input, next) {
        const { activityType: step, attempt } = info;
        const workflow_id = info.workflowExecution?.workflowId ?? '';
        try {
          const result = await next(input);
          if (attempt > 1) await note(clearStepFailure(pool, { workflow_id, step }));
          return result;
        } catch (error) {
          const failure = shortOf(error);
          if (failure === null) await note(clearStepFailure(pool, { workflow_id, step }));
          else await note(noteStepFailure(pool, { workflow_id, step, attempt, failure, at: now() }));
          throw error;
        }
      },
    },
  });
}

async function look(pool: Pool, client: Client, root_key: RootKeyRing): Promise<void> {
  const at = now();
  if (!(await claimLook(pool, { at, before: new Date(at.getTime() - LOOK_MS) }))) return;
  const workflows: { workflow_id: string; type: string; started_at: Date }[] = [];
  let complete = true;
  for await (const seen of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    if (OF_TEMPORAL.test(seen.type)) continue;
    complete = workflows.length < SEEN_MAX;
    if (!complete) break;
    workflows.push({ workflow_id: seen.workflowId, type: seen.type, started_at: seen.startTime });
  }
  await pool.transaction((db) => replaceOpen(db, { workflows, complete, at }));
  await countUnderFormer(pool, client, root_key);
}

/** Looks until stopped. */
export function startLooks(parts: {
  pool: Pool;
  log: Log;
  client: () => Client | null;
  root_key: RootKeyRing;
}): { stop(): Promise<void> } {
  const { pool, log, root_key } = parts;
  let running: Promise<void> | null = null;
  const tick = () => {
    const client = parts.client();
    if (client === null) return;
    running ??= look(pool, client, root_key)
      .catch((error: unknown) => log.debug({ error }, 'could not look at open workflows'))
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(tick, TICK_MS);
  tick();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
