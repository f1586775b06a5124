// Temporal's timers do not know the development clock (`svcctl dev clock`). When that clock is moved, every running
// workflow gets a signal to read its row again. Used only with SVC_DEV=1.
import { type Log, machineMs, nowMs } from '@svc/core/kernel/index.ts';
import type { Client } from '@temporalio/client';

const LOOK_MS = 500;
/** Two clocks are not read at exactly the same instant. */
const NOISE_MS = 1_000;

async function tellAll(client: Client): Promise<number> {
  let informed = 0;
  for await (const { workflowId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    // A workflow that has ended meanwhile needs no signal.
    await client.workflow
      .getHandle(workflowId)
      .signal('clock_moved')
      .catch(() => {});
    informed++;
  }
  return informed;
}

/** Watches the clock of this process until stopped. */
export function tellClockMoves(parts: { log: Log; client: () => Client | null }): { stop(): void } {
  const shift = () => nowMs() - machineMs();
  // What was moved before this worker ran, nobody may have told.
  let last = 0;
  let timer: NodeJS.Timeout | null = null;
  const look = async () => {
    const client = parts.client();
    const present = shift();
    if (client !== null && Math.abs(present - last) > NOISE_MS) {
      try {
        const informed = await tellAll(client);
        last = present;
        parts.log.info({ informed }, 'signalled workflows that the clock moved');
      } catch (error) {
        parts.log.debug({ error }, 'could not signal workflows that the clock moved');
      }
    }
    if (timer !== null) wait();
  };
  const wait = () => {
    timer = setTimeout(look, LOOK_MS);
  };
  wait();
  return {
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
