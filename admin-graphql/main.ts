// The admin program: `node admin-graphql/main.ts`, configured by environment variables (docs/configuration.md).
import { ConfigError, createLog, readConfig } from '@svc/core/kernel/index.ts';
import { startAdmin } from './start.ts';

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.log_level, 'admin');
  const admin = await startAdmin({ config, log });
  log.info(
    {
      admin_url: admin.admin_url,
      staff_url: admin.staff_url,
      metrics_url: admin.metrics_url,
      pid: process.pid,
    },
    'admin ready',
  );
  let stopping = false;
  const stop = (signal: string) => {
    // A second signal means now: whoever waits has lost patience.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'admin stopping');
    admin.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, 'admin stop failed');
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
