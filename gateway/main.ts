// The gateway program: `node gateway/main.ts`, configured by environment variables (docs/configuration.md).
import { ConfigError, createLog, readConfig } from '@svc/core/kernel/index.ts';
import { startGateway } from './start.ts';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.log_level, 'gateway');
  const gateway = await startGateway({ config, log });
  log.info(
    { base_url: gateway.base_url, metrics_url: gateway.metrics_url, pid: process.pid },
    'gateway ready',
  );
  let stopping = false;
  const stop = (signal: string) => {
    // A second signal means now: whoever waits has lost patience.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'gateway draining');
    gateway.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, 'gateway stop failed');
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
