// The program behind `startSharedGateway`: serves one gateway after another, each started and stopped on command. The
// product is loaded once, and its code stays compiled over test files.
import { Writable } from 'node:stream';
import { readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { errorFields } from '@svc/core/kernel/log.ts';
import { type Gateway, startGateway } from '@svc/gateway/start.ts';
import { pino } from 'pino';

export type Command =
  /** Variables of the process that the gateway would have had for itself. */
  { readonly start: Readonly<Record<string, string>> } | { readonly stop: true };
export type Report =
  | { readonly started: string }
  | { readonly failed: string }
  | { readonly stopped: true }
  | { readonly line: string };

let running: Gateway | null = null;
/** Names of the variables that the present gateway brought. */
let brought: readonly string[] = [];

/** Resolves when the pipe has taken `report`: what is said before a crash must arrive. */
function report(said: Report): Promise<void> {
  return new Promise((done) => process.send?.(said, () => done()));
}

const lines = new Writable({
  write(chunk: Buffer, _, done) {
    void report({ line: chunk.toString() }).then(() => done());
  },
});

async function start(env: Readonly<Record<string, string>>): Promise<void> {
  brought = Object.keys(env);
  Object.assign(process.env, env);
  const config = readConfig(env);
  const log = pino(
    { level: config.log_level, base: { program: 'gateway' }, serializers: { error: errorFields } },
    lines,
  );
  running = await startGateway({ config, log });
  await report({ started: running.base_url });
}

/** The process is as it was for the next gateway. */
function forget(): void {
  running = null;
  shiftClock(0);
  for (const name of brought) delete process.env[name];
}

async function stop(): Promise<void> {
  await running?.stop();
  forget();
  await report({ stopped: true });
}

process.on('message', (command: Command) => {
  const work = 'stop' in command ? stop() : start(command.start);
  work.catch((error: Error) => {
    forget();
    return report({ failed: String(error.stack) });
  });
});
// Its parent has gone, however that ended.
process.on('disconnect', () => process.exit(0));
