// The admin program: `node admin-graphql/main.ts`, configured by environment variables (docs/configuration.md).
import { runProgram } from '@svc/core/kernel/index.ts';

runProgram('admin', async (config, log) => {
  const { startAdmin } = await import('./start.ts');
  const admin = await startAdmin({ config, log });
  const { admin_url, staff_url, metrics_url } = admin;
  return { facts: { admin_url, staff_url, metrics_url }, stop: () => admin.stop() };
});
