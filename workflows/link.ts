// The way to Temporal: connects with patience, runs the workers, and comes back by itself. A worker program without
// Temporal is a degraded one, not a broken one: its jobs go on and callbacks book elsewhere.
import type { Log } from '@svc/core/kernel/index.ts';
import { machineMs } from '@svc/core/kernel/index.ts';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { taskQueues } from './kinds.ts';

const RETRY_MS = 1_000;
const ASK_MS = 3_000;

interface LinkOptions {
  readonly address: string;
  readonly namespace: string;
  /** Shown in Temporal's UI. */
  readonly identity: string;
  readonly log: Log;
  /** What the workers of all queues have in common: bundle, activities, interceptors. */
  readonly worker: Pick<WorkerOptions, 'workflowBundle' | 'activities' | 'interceptors'>;
}

export interface Link {
  /** Null while Temporal has not been reached. */
  client(): Client | null;
  /** Whether Temporal answers now and knows the namespace; remembered in `reached`. */
  ask(): Promise<boolean>;
  /** What `ask` said last. */
  readonly reached: boolean;
  /** Activities that run in this process. */
  activities(): number;
  /** Lets running activities end, then closes. */
  stop(): Promise<void>;
}

class TemporalLink implements Link {
  readonly #options: LinkOptions;
  #connection: NativeConnection | null = null;
  #client: Client | null = null;
  #workers: Worker[] = [];
  #stopped = false;
  #wake: () => void = () => {};
  #reported_away = false;
  #loop: Promise<void> = Promise.resolve();
  reached = false;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  client(): Client | null {
    return this.#client;
  }

  activities(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.getStatus().numInFlightActivities, 0);
  }

  async ask(): Promise<boolean> {
    const connection = this.#connection;
    const { namespace } = this.#options;
    try {
      if (connection === null) throw new Error('not connected');
      await connection.withDeadline(machineMs() + ASK_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      this.reached = true;
    } catch {
      this.reached = false;
    }
    return this.reached;
  }

  begin(): void {
    this.#loop = this.#run();
  }

  async #run(): Promise<void> {
    const { address, namespace, log } = this.#options;
    while (!this.#stopped) {
      try {
        await this.#connect();
        log.info({ address, namespace }, 'Temporal reached, workers run');
        this.#reported_away = false;
        const ends = await Promise.allSettled(this.#workers.map((worker) => this.#work(worker)));
        const failed = ends.find((end) => end.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
      } catch (error) {
        // Said once per outage; the retries go on silently.
        if (!this.#reported_away) log.warn({ address, namespace, error }, 'Temporal is away; trying again');
        this.#reported_away = true;
      }
      await this.#disconnect();
      if (!this.#stopped) await this.#pause();
    }
  }

  async #connect(): Promise<void> {
    const { address, namespace, identity, worker } = this.#options;
    const connection = await NativeConnection.connect({ address });
    this.#connection = connection;
    for (const taskQueue of taskQueues) {
      this.#workers.push(
        await Worker.create({
          ...worker,
          connection,
          namespace,
          identity,
          taskQueue,
          maxCachedWorkflows: 500,
          shutdownGraceTime: '10 seconds',
          shutdownForceTime: '20 seconds',
        }),
      );
    }
    this.#client = new Client({ connection, namespace, identity });
    this.reached = true;
  }

  /** Runs one worker; when it ends, however, all end with it. */
  async #work(worker: Worker): Promise<void> {
    try {
      if (!this.#stopped) await worker.run();
    } finally {
      for (const other of this.#workers) if (other.getState() === 'RUNNING') other.shutdown();
    }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#client = null;
    this.#connection = null;
    this.#workers = [];
    this.reached = false;
    await connection?.close().catch((error: unknown) => {
      this.#options.log.debug({ error }, 'connection not closed');
    });
  }

  #pause(): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, RETRY_MS);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    for (const worker of this.#workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await this.#loop;
  }
}

/** Begins to connect; never throws for a Temporal that is away. */
export function openLink(options: LinkOptions): Link {
  const link = new TemporalLink(options);
  link.begin();
  return link;
}
