// The gateway program: `node gateway/main.ts`, configured by environment variables (docs/configuration.md).
import { runProgram } from '@svc/core/kernel/index.ts';
import { lowerPoolPriority } from './thread-pool.ts';

runProgram('gateway', async (config, log) => {
  await lowerPoolPriority();
  const { startGateway } = await import('./start.ts');
  const gateway = await startGateway({ config, log });
  const { base_url, metrics_url } = gateway;
  return { facts: { base_url, metrics_url }, stop: () => gateway.stop() };
});
