// One process of an installation does the periodic work: the holder of a session-level advisory lock. When it dies,
// its connection and with it the lock go, and another process takes over at its next try.
import pg from 'pg';
import { type Log, nowMs } from '../kernel/index.ts';

const LOCK = 7_305_118_202;
const RETRY_MS = 2_000;
/** A machine that vanishes without closing its connection loses the lock in half a minute and not after two hours. */
const KEEPALIVE = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

export interface Job {
  /** Label in logs and metrics. */
  readonly name: string;
  readonly every_ms: number;
  /** Returns how many things it did; 0 is silent. Called only while this process leads. */
  run(): Promise<number>;
}

export interface JobCounts {
  runs: number;
  failures: number;
  /** Milliseconds since the epoch at the end of the last run that did not fail; null before the first. */
  succeeded_at_ms: number | null;
}

export interface Leader {
  readonly leading: boolean;
  /** What each job has done in this process, for metrics. */
  readonly counts: ReadonlyMap<string, Readonly<JobCounts>>;
  stop(): Promise<void>;
}

/** Runs `jobs` while this process holds the lock; a failing job is logged and tried again at its next turn. */
export function lead(options: { url: string; log: Log; jobs: readonly Job[] }): Leader {
  const { log, jobs } = options;
  const counts = new Map(
    jobs.map((job): [string, JobCounts] => [job.name, { runs: 0, failures: 0, succeeded_at_ms: null }]),
  );
  let client: pg.Client | null = null;
  let stopped = false;
  let timers: NodeJS.Timeout[] = [];
  const running = new Set<Promise<void>>();

  async function turn(job: Job): Promise<void> {
    const count = counts.get(job.name) as JobCounts;
    count.runs++;
    try {
      const done = await job.run();
      count.succeeded_at_ms = nowMs();
      if (done > 0) log.info({ job: job.name, done }, 'job');
    } catch (error) {
      count.failures++;
      log.warn({ job: job.name, error }, 'job failed');
    }
  }

  function schedule(job: Job): void {
    let busy = false;
    const tick = () => {
      if (busy || client === null || stopped) return;
      busy = true;
      const work = turn(job).finally(() => {
        busy = false;
        running.delete(work);
      });
      running.add(work);
    };
    timers.push(setInterval(tick, job.every_ms).unref());
    tick();
  }

  function lose(): void {
    client = null;
    for (const timer of timers) clearInterval(timer);
    timers = [];
  }

  async function tryToLead(): Promise<void> {
    if (stopped || client !== null) return;
    const candidate = new pg.Client({
      connectionString: options.url,
      application_name: 'svc-leader',
      options: KEEPALIVE,
    });
    candidate.on('error', () => {
      if (client === candidate) lose();
    });
    try {
      await candidate.connect();
      const { rows } = await candidate.query<{ won: boolean }>('select pg_try_advisory_lock($1) as won', [
        LOCK,
      ]);
      if (rows[0]?.won && !stopped) {
        client = candidate;
        for (const job of jobs) schedule(job);
        return;
      }
    } catch {
      // The database is away; the next turn tries again.
    }
    await candidate.end().catch(() => {});
  }

  const retry = setInterval(() => void tryToLead(), RETRY_MS).unref();
  void tryToLead();
  return {
    get leading() {
      return client !== null;
    },
    counts,
    async stop() {
      stopped = true;
      clearInterval(retry);
      const held = client;
      lose();
      await Promise.all(running);
      await held?.end().catch(() => {});
    },
  };
}
