// The connection to Temporal: connects with retries, runs the workers, and reconnects by itself. A worker program
// without Temporal is degraded, not broken: its jobs continue, and callbacks book top-ups without it.
import type { Log } from '@svc/core/kernel/index.ts';
import { machineMs } from '@svc/core/kernel/index.ts';
import { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import {
  NativeConnection,
  type NativeConnectionOptions,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { taskQueues } from './kinds.ts';
import { canSearch } from './search-setup.ts';

const RETRY_MS = 1_000;
const ASK_MS = 3_000;

interface LinkOptions {
  readonly address: string;
  readonly namespace: string;
  /** Shown in Temporal's UI. */
  readonly identity: string;
  readonly log: Log;
  /** Whether workflows are to be found by search attributes. */
  readonly search: boolean;
  /** Certificates and API key for the next connection. */
  readonly security: () => Promise<Pick<NativeConnectionOptions, 'tls' | 'apiKey'>>;
  /** What the workers of all queues share: bundle, activities, interceptors, version, and the conversion, also the client's. */
  readonly worker: Pick<
    WorkerOptions,
    'workflowBundle' | 'activities' | 'interceptors' | 'workerDeploymentOptions'
  > & { readonly dataConverter: DataConverter };
}

export interface Link {
  /** Null until Temporal has been reached. */
  client(): Client | null;
  /** Whether workflows can be started with search attributes there. */
  readonly searchable: boolean;
  /** Whether Temporal currently answers and has the namespace; the result is kept in `reached`. */
  ask(): Promise<boolean>;
  /** The latest result of `ask`. */
  readonly reached: boolean;
  /** Number of activities that run in this process. */
  activities(): number;
  /** Lets running activities end, then closes the connection. */
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
  searchable = false;

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
        // Logged once per outage; the retries are silent.
        if (!this.#reported_away)
          log.warn({ address, namespace, error }, 'Temporal cannot be reached; retrying');
        this.#reported_away = true;
      }
      await this.#disconnect();
      if (!this.#stopped) await this.#pause();
    }
  }

  async #connect(): Promise<void> {
    const { address, namespace, identity, worker, security, search, log } = this.#options;
    const connection = await NativeConnection.connect({ address, ...(await security()) });
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
    const { dataConverter } = worker;
    this.searchable = search && (await canSearch(connection, { namespace, log }));
    this.#client = new Client({ connection, namespace, identity, dataConverter });
    this.reached = true;
  }

  /** Runs one worker. However it ends, all workers end with it. */
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

/** Starts to connect. Never throws when Temporal cannot be reached. */
export function openLink(options: LinkOptions): Link {
  const link = new TemporalLink(options);
  link.begin();
  return link;
}
