// The simulated portal as a program: `node test/sim/e-invoices/main.ts --port 0`. It prints one line {"port","url","pid"} when it
// listens, and ends on SIGTERM or SIGINT. It forgets what it registered: the same document gets the same number again.
import { parseArgs } from 'node:util';
import { startPortalSim } from './portal.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const portal = await startPortalSim({ port: Number(values.port) });
const port = Number(new URL(portal.url).port);
process.stdout.write(`${JSON.stringify({ port, url: portal.url, pid: process.pid })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => void portal.close().then(() => process.exit(0)));
