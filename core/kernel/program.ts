// How a program starts and stops. Signal handlers are installed before anything else: process 1 of a container has no
// default action for signals, so one that arrived during the start would be lost, and the process killed at the end
// of its grace period.
import { type Config, ConfigError, readConfig } from './config.ts';
import { type Log, openLog } from './log.ts';

export interface Program {
  /** Logged once the program is ready: its addresses. */
  readonly facts: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

function fail(error: unknown): never {
  const known = error instanceof ConfigError;
  process.stderr.write(`${known ? error.message : String((error as Error)?.stack ?? error)}\n`);
  process.exit(1);
}

/**
 * Reads the configuration, starts a program, and on SIGTERM or SIGINT stops it and ends the process with exit code 0,
 * or 1 when the start or the stop failed. A signal during the start ends the process at once with 0: it has accepted
 * no work, and its connections close with it. `start` should import what it needs itself, because loading takes most
 * of the time.
 */
export function runProgram(name: string, start: (config: Config, log: Log) => Promise<Program>): void {
  let running: { readonly program: Program; readonly log: Log } | null = null;
  let stopping = false;
  const end = (signal: string) => {
    if (running === null) process.exit(0);
    // A second signal means: stop now.
    if (stopping) process.exit(1);
    stopping = true;
    const { program, log } = running;
    log.info({ signal }, `${name} stopping`);
    program.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, `${name} stop failed`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => end('SIGTERM'));
  process.on('SIGINT', () => end('SIGINT'));
  const begin = async () => {
    const config = readConfig();
    const log = await openLog(config.log_level, name);
    const program = await start(config, log);
    running = { program, log };
    log.info({ ...program.facts, pid: process.pid }, `${name} ready`);
  };
  begin().catch(fail);
}
