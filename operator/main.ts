// The operator program: `node operator/main.ts --base-url https://…`, configured by flags (docs/kubernetes.md).
import { createLog } from './log.ts';
import { flags, OptionsError, readOptions } from './options.ts';
import { type Operator, startOperator } from './start.ts';

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    for (const [name, { doc }] of Object.entries(flags)) process.stdout.write(`--${name}\n    ${doc}\n`);
    return;
  }
  const options = readOptions(args);
  const log = createLog(options.log_level);
  let operator: Operator | null = null;
  let stopping = false;
  const stop = (signal: string) => {
    // Process 1 of a container has no default action for signals, so one during the start must be handled too.
    if (operator === null) process.exit(0);
    // A second signal ends the process at once.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'operator stopping');
    operator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  operator = await startOperator(options, log);
  log.info({ health_url: operator.health_url, pid: process.pid }, 'operator ready');
}

main().catch((error: unknown) => {
  const known = error instanceof OptionsError;
  process.stderr.write(`${known ? (error as Error).message : String((error as Error)?.stack ?? error)}\n`);
  process.exit(1);
});
