// The worker program: `node workflows/main.ts`, configured by environment variables (docs/configuration.md).
import { ConfigError, createLog, readConfig } from '@svc/core/kernel/index.ts';
import { startWorker } from './start.ts';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.log_level, 'worker');
  const worker = await startWorker({ config, log });
  log.info({ url: worker.url, pid: process.pid }, 'worker started');
  let stopping = false;
  const stop = (signal: string) => {
    // A second signal means now: whoever waits has lost patience.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'worker draining');
    worker.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, 'worker stop failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError;
  process.stderr.write(`${known ? (error as Error).message : String((error as Error)?.stack ?? error)}\n`);
  process.exit(1);
});
