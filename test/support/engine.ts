// Programs that tests start in addition to PostgreSQL: found, started on loopback, watched, and ended with the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { findTool, type ToolName } from '@svc/cli/tools/tools.ts';
import { endWithUs } from './watch.ts';

/** Path of a tool. Tests do not install tools: a build of minutes would look like a test that hangs. */
export async function toolPath(name: ToolName): Promise<string> {
  const found = await findTool(name);
  if (found === null) throw new Error(`${name} is not on this machine: run \`make tools\``);
  return found.path;
}

export interface Engine {
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** The end of its output, at most 16 KiB. */
  output(): string;
  isRunning(): boolean;
  /** Asks it to end; SIGKILL when it has not ended after ten seconds. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

const STOP_LIMIT_MS = 10_000;

function keepOutput(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (piece: Buffer) => {
      text = (text + piece.toString()).slice(-16_384);
    });
  }
  return () => text;
}

/** Starts a program that ends when this process ends. It may not be ready yet; see `untilAnswer`. */
export function startEngine(program: string, args: readonly string[], cwd: string): Engine {
  // In a session of its own, so that Ctrl-C reaches only the test run, which then stops the engines in order.
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const output = keepOutput(child);
  let running = true;
  let fault = '';
  const ended = new Promise<void>((done) => {
    const end = () => {
      running = false;
      done();
    };
    child.once('close', end);
    child.once('error', (error) => {
      fault = error.message;
      end();
    });
  });
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  const signal = async (name: NodeJS.Signals) => {
    // The whole process group: a child that lives on would keep the outputs open, and `ended` would not resolve.
    const send = (one: NodeJS.Signals) => {
      try {
        if (running && child.pid !== undefined) process.kill(-child.pid, one);
      } catch {
        // It has just ended, and the event has not arrived yet.
      }
    };
    send(name);
    const timer = setTimeout(() => send('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(timer);
  };
  return {
    pid: child.pid ?? 0,
    ended,
    output: () => fault || output(),
    isRunning: () => running,
    stop: () => signal('SIGTERM'),
    kill: () => signal('SIGKILL'),
  };
}

/**
 * Calls `ask` every 20 ms until it resolves, and resolves with its result.
 * @throws Error with the engine's output when the engine ends first, or with the last error after `limit_ms`.
 */
export async function untilAnswer(
  engine: Engine,
  ask: () => Promise<unknown>,
  limit_ms = 60_000,
): Promise<void> {
  const deadline = performance.now() + limit_ms;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!engine.isRunning()) throw new Error(`it ended: ${engine.output()}`, { cause: error });
      if (performance.now() > deadline)
        throw new Error(`no answer in ${limit_ms} ms: ${(error as Error).message}\n${engine.output()}`);
    }
    await new Promise((done) => setTimeout(done, 20));
  }
}
