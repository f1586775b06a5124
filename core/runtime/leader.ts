// One process of an installation does the periodic work: the holder of a session-level advisory lock. When it dies,
// its connection and with it the lock go, and another process takes over at its next try.
import pg from 'pg';
import { refuseStandby } from '../db/index.ts';
import { type Log, machineMs, nowMs } from '../kernel/index.ts';

const LOCK = 7_305_118_202;
const RETRY_MS = 2_000;
/** How soon a move of the development clock is seen; where it never moves, a comparison of two numbers. */
const CLOCK_MS = 100;
/** Two readings of the clocks are not of one instant. */
const NOISE_MS = 1_000;
/** A connection that the network forgot in silence is given up, and another one asks. */
const ANSWER_MS = 10_000;
/** A machine that vanishes without closing its connection loses the lock in half a minute and not after two hours. */
const KEEPALIVE =
  'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4';

export interface Job {
  /** Label in logs and metrics. */
  readonly name: string;
  readonly every_ms: number;
  /** Returns how many things it did; 0 is silent. Called only while this process leads. */
  run(): Promise<number>;
}

interface JobCounts {
  runs: number;
  failures: number;
  /** Runs that failed since one did not, while this process leads. */
  misses: number;
  /** Milliseconds since the epoch at the end of the last run that did not fail; null before the first. */
  succeeded_at_ms: number | null;
}

export interface Leader {
  readonly leading: boolean;
  /** What each job has done in this process, for metrics. */
  readonly counts: ReadonlyMap<string, Readonly<JobCounts>>;
  stop(): Promise<void>;
}

/** The lock and, while it is held, the timers of the jobs. */
class Leadership implements Leader {
  readonly counts: ReadonlyMap<string, JobCounts>;
  readonly #url: string;
  readonly #log: Log;
  readonly #jobs: readonly Job[];
  readonly #running = new Set<Promise<void>>();
  readonly #retry: NodeJS.Timeout;
  /** The one connection that asks for the lock; it holds the lock while `#leading`. */
  #client: pg.Client | null = null;
  #leading = false;
  #asking: Promise<void> | null = null;
  #timers: NodeJS.Timeout[] = [];
  #stopped = false;

  constructor({ url, log, jobs }: LeadOptions) {
    this.#url = url;
    this.#log = log;
    this.#jobs = jobs;
    this.counts = new Map(
      jobs.map(({ name }) => [name, { runs: 0, failures: 0, misses: 0, succeeded_at_ms: null }]),
    );
    this.#retry = setInterval(() => this.#ask(), RETRY_MS).unref();
    this.#ask();
  }

  get leading(): boolean {
    return this.#leading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#retry);
    this.#rest();
    await this.#asking;
    await Promise.all(this.#running);
    await this.#client?.end().catch(() => {});
  }

  /** One question at a time: a server that does not answer gets no second connection. */
  #ask(): void {
    if (this.#stopped || this.#leading) return;
    this.#asking ??= this.#tryToLead().finally(() => {
      this.#asking = null;
    });
  }

  async #tryToLead(): Promise<void> {
    try {
      this.#client ??= await this.#connect();
      const client = this.#client;
      const text = 'select pg_try_advisory_lock($1) as won';
      const { rows } = await client.query<{ won: boolean }>({ text, values: [LOCK] });
      // A connection that broke under the question has lost what it won.
      if (!rows[0]?.won || this.#stopped || this.#client !== client) return;
      this.#leading = true;
      const ticks = this.#jobs.map((job) => this.#schedule(job));
      this.#followClock(() => {
        for (const tick of ticks) tick();
      });
    } catch {
      // The database is away; the next turn opens another connection.
      const broken = this.#client;
      this.#lose();
      broken?.end().catch(() => {});
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'svc-leader',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
    });
    client.on('error', () => {
      if (this.#client === client) this.#lose();
    });
    try {
      await client.connect();
      // Locks of a standby are its own: two processes would lead.
      await refuseStandby(client);
      await client.query(KEEPALIVE);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    return client;
  }

  /** The connection is gone, and the lock with it. */
  #lose(): void {
    this.#client = null;
    this.#rest();
  }

  #rest(): void {
    this.#leading = false;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    for (const count of this.counts.values()) count.misses = 0;
  }

  /** Starts the turns of a job; the function that it returns begins one out of turn, or another behind the present one. */
  #schedule(job: Job): () => void {
    let busy = false;
    let once_more = false;
    const tick = () => {
      if (busy || !this.#leading || this.#stopped) return;
      busy = true;
      const work = this.#turn(job).finally(() => {
        busy = false;
        this.#running.delete(work);
        if (!once_more) return;
        once_more = false;
        tick();
      });
      this.#running.add(work);
    };
    this.#timers.push(setInterval(tick, job.every_ms).unref());
    tick();
    return () => {
      once_more = busy;
      tick();
    };
  }

  /** Calls `moved` when the development clock was moved: what an hour does is due when it is an hour later there. */
  #followClock(moved: () => void): void {
    const shift = () => nowMs() - machineMs();
    let last = shift();
    const look = () => {
      const present = shift();
      if (Math.abs(present - last) <= NOISE_MS) return;
      last = present;
      moved();
    };
    this.#timers.push(setInterval(look, CLOCK_MS).unref());
  }

  async #turn(job: Job): Promise<void> {
    const count = this.counts.get(job.name) as JobCounts;
    count.runs++;
    try {
      const done = await job.run();
      count.succeeded_at_ms = nowMs();
      count.misses = 0;
      if (done > 0) this.#log.info({ job: job.name, done }, 'job');
    } catch (error) {
      count.failures++;
      // Of a job that was under way when the lock was lost, who leads now will say.
      if (this.#leading) count.misses++;
      this.#log.warn({ job: job.name, error }, 'job failed');
    }
  }
}

interface LeadOptions {
  readonly url: string;
  readonly log: Log;
  readonly jobs: readonly Job[];
}

/** Runs `jobs` while this process holds the lock; a failing job is logged and tried again at its next turn. */
export function lead(options: LeadOptions): Leader {
  return new Leadership(options);
}
