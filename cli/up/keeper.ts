// Keeps one program running: starts it, waits until it is ready, and restarts it when it ends by itself, each time
// after a longer delay, so that a program that cannot run does not occupy the machine.
import { type Child, type ChildStart, logTail, startChild } from './child.ts';
import { Interrupted } from './interruption.ts';
import { say } from './progress.ts';
import type { Start } from './start.ts';
import type { UpFields } from './up-file.ts';

export interface Program {
  readonly name: string;
  readonly address: string;
  readonly health_url: string | null;
  /** Read at every start. */
  readonly child: ChildStart;
  /** Resolves with null when the program is ready, otherwise with the reason. */
  probe(): Promise<string | null>;
  /** What it adds to up.json once it is ready. */
  readonly fields?: UpFields;
  /** How long it may take to end before it is killed. */
  readonly stop_within_ms: number;
}

const READY_DEADLINE_MS = 60_000;
const PROBE_EVERY_MS = 25;
/** Delay before the next start, doubled at each failure. */
const DELAY_MS_MIN = 1_000;
const DELAY_MS_MAX = 30_000;
/** A program that ran at least this long is restarted without delay. */
const HEALTHY_MS = 60_000;

/** A start that failed; the message includes the end of the log. */
export class StartFailed extends Error {}

/** Null when `url` answers 200; otherwise what is wrong. */
export async function probeUrl(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    if (answer.status === 200) {
      await answer.body?.cancel();
      return null;
    }
    return `${answer.status} ${(await answer.text()).slice(0, 300)}`;
  } catch {
    return 'no answer';
  }
}

export class Keeper {
  private readonly start_of: Pick<Start, 'board' | 'interruption'>;
  private readonly program: Program;
  private readonly stopping = Promise.withResolvers<void>();
  private is_stopping = false;
  private child: Child | null = null;
  private loop: Promise<void> = Promise.resolve();
  private failures = 0;

  constructor(program: Program, start: Pick<Start, 'board' | 'interruption'>) {
    this.program = program;
    this.start_of = start;
  }

  /**
   * Starts the program once and waits until it is ready. @throws StartFailed when it ends first or takes too long.
   */
  async start(): Promise<void> {
    const { name, child: start } = this.program;
    this.tell('starting', 'is starting');
    const child = await startChild(name, { ...start, private_files: true }).catch((error: Error) => {
      throw new StartFailed(`it cannot be started: ${error.message}`);
    });
    this.child = child;
    this.start_of.board.started(name, child.pid);
    child.ended.then(() => this.start_of.board.ended(name));
    await this.untilReady(child);
    this.tell('ready', null);
  }

  /** From now on the program is restarted whenever it ends. */
  keep(): void {
    this.loop = this.run();
  }

  /** Ends the program: with SIGTERM, and with SIGKILL after `stop_within_ms` or at a second Ctrl-C. */
  async stop(): Promise<void> {
    this.is_stopping = true;
    this.stopping.resolve();
    const child = this.child;
    if (child !== null && !child.hasEnded()) {
      child.signal('SIGTERM');
      const { name, stop_within_ms } = this.program;
      const note = setTimeout(
        () => say('stopping', `${name} finishes what it is doing; Ctrl-C again ends it now`),
        1_000,
      );
      await Promise.race([child.ended, this.start_of.interruption.second, pause(stop_within_ms)]);
      clearTimeout(note);
      if (!child.hasEnded()) child.signal('SIGKILL');
      await child.ended;
    }
    await this.loop;
  }

  private async run(): Promise<void> {
    for (;;) {
      const child = this.child;
      if (child !== null && !child.hasEnded()) {
        const since = performance.now();
        await child.ended;
        if (performance.now() - since > HEALTHY_MS) this.failures = 0;
      }
      if (this.is_stopping) return;
      const how = child === null ? 'it could not be started' : `it ended (${await child.ended})`;
      await this.again(how);
      if (this.is_stopping) return;
    }
  }

  /** Waits for the delay and starts the program once more. */
  private async again(how: string): Promise<void> {
    const { name, address, child } = this.program;
    const delay_ms = Math.min(DELAY_MS_MAX, DELAY_MS_MIN * 2 ** this.failures++);
    const rarely = delay_ms === DELAY_MS_MAX;
    const detail = `${how}; ${rarely ? 'tried again every' : 'next start in'} ${delay_ms / 1000} s. Log: ${child.log}`;
    this.tell('restarting', detail);
    // At the longest delay nothing is printed: it was said before, and only a successful start is news.
    if (2 ** (this.failures - 2) * DELAY_MS_MIN < DELAY_MS_MAX) say(name, detail);
    await Promise.race([this.stopping.promise, pause(delay_ms)]);
    if (this.is_stopping) return;
    try {
      await this.start();
      say(name, `ready again: ${address}`);
    } catch (error) {
      // The next round reports a failed start; when the start was interrupted, the stop ends the program.
      if (!(error instanceof StartFailed || error instanceof Interrupted)) throw error;
    }
  }

  private tell(state: 'starting' | 'ready' | 'restarting', detail: string | null): void {
    const { name, address, health_url, fields } = this.program;
    this.start_of.board.set(
      { name, state, address, health_url, detail, pid: state === 'ready' ? (this.child?.pid ?? null) : null },
      state === 'ready' ? fields : {},
    );
  }

  private async untilReady(child: Child): Promise<void> {
    const deadline = performance.now() + READY_DEADLINE_MS;
    for (let detail: string | null = 'no answer'; ; ) {
      this.start_of.interruption.check();
      if (child.hasEnded()) {
        throw new StartFailed(`it ended while starting (${await child.ended}):\n${logTail(child.log)}`);
      }
      detail = await this.program.probe();
      if (detail === null) return;
      if (performance.now() > deadline) {
        child.signal('SIGKILL');
        throw new StartFailed(`it is not ready after ${READY_DEADLINE_MS / 1000} s: ${detail}`);
      }
      await pause(PROBE_EVERY_MS);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}
