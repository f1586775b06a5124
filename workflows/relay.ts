// Sends to Temporal what committed transactions asked for: starts and signals, at least once and in order. Workflow
// ids make a repeat harmless, so workers need not agree on who sends.
import { type Listener, listen, type Pool } from '@svc/core/db/index.ts';
import { type Log, machineMs, now } from '@svc/core/kernel/index.ts';
import {
  markSignalled,
  markStarted,
  takeSignals,
  takeStarts,
  type WaitingSignal,
  type WorkflowStart,
} from '@svc/core/workflow-starts/index.ts';
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { kindOf, startOptions } from './kinds.ts';

const BATCH = 100;
/** Starts that are sent at once: they wait for Temporal's disk, and no two are of one workflow. */
const AT_ONCE = 10;
const CALL_MS = 10_000;
const LOOK_MS = 2_000;
/** gRPC INVALID_ARGUMENT: Temporal will never accept this row, and the rows behind it must not wait for it. */
const INVALID_ARGUMENT = 3;

interface RelayCounts {
  starts: number;
  signals: number;
  /** Rows that Temporal did not accept and that were left waiting. */
  left: number;
}

/** Whether Temporal will never accept it; the client wraps what the server says of a start. */
function isRefused(error: unknown): boolean {
  const said = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(said) && said.code === INVALID_ARGUMENT;
}

/** Where rows go, and whether workflows are started with search attributes there. */
interface Receiver {
  readonly client: Client;
  readonly searchable: boolean;
}

/**
 * Does `call` with search attributes if Temporal has them; without them where it has not, as when somebody removed one while the
 * worker runs, or just after they were registered.
 */
async function searchably(
  { searchable }: Receiver,
  call: (searchable: boolean) => Promise<unknown>,
): Promise<void> {
  try {
    await call(searchable);
  } catch (error) {
    if (!searchable || !isRefused(error)) throw error;
    await call(false);
  }
}

/** Starts one workflow; false when its type is unknown to this release. */
async function start(to: Receiver, wanted: WorkflowStart): Promise<boolean> {
  const { client } = to;
  const kind = kindOf(wanted.type);
  if (kind === null) return false;
  try {
    await searchably(to, (searchable) =>
      client.workflow.start(wanted.type, startOptions(kind, wanted, searchable)),
    );
  } catch (error) {
    // It has already run and ended; it is not started a second time.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  return true;
}

/**
 * Sends one signal. When the workflow has ended, it is run once more if its kind says so; otherwise the signal is not
 * needed.
 */
async function signal(to: Receiver, waiting: WaitingSignal): Promise<boolean> {
  const { client } = to;
  const kind = kindOf(waiting.start.type);
  if (kind === null) return false;
  try {
    await client.workflow.getHandle(waiting.workflow_id).signal(waiting.name, waiting.args);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    if (!kind.revived_by.includes(waiting.name)) return true;
    await searchably(to, (searchable) =>
      client.workflow.signalWithStart(waiting.start.type, {
        ...startOptions(kind, waiting.start, searchable),
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        signal: waiting.name,
        signalArgs: [waiting.args],
      }),
    );
  }
  return true;
}

class Teller {
  readonly #client: Client;
  readonly #log: Log;
  readonly counts: RelayCounts = { starts: 0, signals: 0, left: 0 };

  constructor(client: Client, log: Log) {
    this.#client = client;
    this.#log = log;
  }

  /** Whether the row can be marked as sent. @throws what means that Temporal cannot be reached now. */
  async tell(workflow_id: string, call: () => Promise<boolean>): Promise<boolean> {
    try {
      const delivered = await this.#client.withDeadline(machineMs() + CALL_MS, call);
      if (!delivered) this.#leave(workflow_id, null);
      return delivered;
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.#leave(workflow_id, error);
      return false;
    }
  }

  #leave(workflow_id: string, error: unknown): void {
    this.counts.left++;
    this.#log.error(
      { workflow_id, error },
      'Temporal does not accept a start or signal; its row is left waiting',
    );
  }
}

/** Sends everything that waits. @throws what Temporal or the database throws; rows that were sent are marked. */
async function relayOnce(db: Pool, to: Receiver, log: Log): Promise<RelayCounts> {
  const teller = new Teller(to.client, log);
  const { counts } = teller;
  for (let rows = BATCH, marked = 1; rows === BATCH && marked > 0; ) {
    const starts = await takeStarts(db, BATCH);
    rows = starts.length;
    marked = 0;
    for (let from = 0; from < rows; from += AT_ONCE) {
      const ends = await Promise.allSettled(
        starts.slice(from, from + AT_ONCE).map(async (wanted) => {
          if (!(await teller.tell(wanted.workflow_id, () => start(to, wanted)))) return;
          await markStarted(db, { workflow_id: wanted.workflow_id, at: now() });
          marked++;
          counts.starts++;
        }),
      );
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
  }
  for (let rows = BATCH, marked = 1; rows === BATCH && marked > 0; ) {
    const signals = await takeSignals(db, BATCH);
    rows = signals.length;
    marked = 0;
    for (const waiting of signals) {
      if (!(await teller.tell(waiting.workflow_id, () => signal(to, waiting)))) continue;
      await markSignalled(db, { signal_id: waiting.signal_id, at: now() });
      marked++;
    }
    counts.signals += marked;
  }
  return counts;
}

export interface Relay {
  /** What this process has sent so far. */
  readonly counts: Readonly<RelayCounts>;
  stop(): Promise<void>;
}

/**
 * Relays until stopped: at once when a transaction commits, and every two seconds in case a notification was missed.
 */
export function startRelay(parts: {
  readonly pool: Pool;
  /** Where NOTIFY is heard. */
  readonly direct_url: string;
  readonly log: Log;
  /** Null while Temporal cannot be reached. */
  readonly client: () => Client | null;
  /** Whether workflows can be started with search attributes. */
  readonly searchable: () => boolean;
}): Relay {
  const { pool, direct_url, log } = parts;
  const counts: RelayCounts = { starts: 0, signals: 0, left: 0 };
  let stopped = false;
  let again = false;
  let running: Promise<void> | null = null;
  let failing = false;

  async function turn(): Promise<void> {
    const client = parts.client();
    if (client === null) return;
    try {
      const round = await relayOnce(pool, { client, searchable: parts.searchable() }, log);
      for (const name of ['starts', 'signals', 'left'] as const) counts[name] += round[name];
      failing = false;
    } catch (error) {
      // Logged once per outage; what waits is sent when it is over.
      if (!failing) log.warn({ error }, 'starts and signals cannot be sent; they wait');
      failing = true;
    }
  }

  function wake(): void {
    if (stopped) return;
    if (running !== null) {
      again = true;
      return;
    }
    again = false;
    running = turn().finally(() => {
      running = null;
      if (again) wake();
    });
  }

  const listener: Listener = listen({
    url: direct_url,
    channels: ['svc_workflow'],
    log,
    on_message: wake,
    on_connect: wake,
  });
  const timer = setInterval(wake, LOOK_MS);
  return {
    counts,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await listener.close();
      await running;
    },
  };
}
