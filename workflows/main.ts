// The worker program: `node workflows/main.ts`, configured by environment variables (docs/configuration.md).
import { runProgram } from '@svc/core/kernel/index.ts';

runProgram('worker', async (config, log) => {
  const { startWorker } = await import('./start.ts');
  const worker = await startWorker({ config, log });
  return { facts: { url: worker.url }, stop: () => worker.stop() };
});
