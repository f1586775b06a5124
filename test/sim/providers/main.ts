// Both provider simulators as a program: `node test/sim/providers/main.ts --port 0 [--log FILE] [--key KEY]…`
// prints one line {"port","url","pid"} when it listens, and ends on SIGTERM or SIGINT.
import { parseArgs } from 'node:util';
import { startProviderSim } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    log: { type: 'string' },
    key: { type: 'string', multiple: true },
  },
});

const sim = await startProviderSim({
  port: Number(values.port),
  host: values.host,
  ...(values.log !== undefined && { log: values.log }),
  ...(values.key !== undefined && { keys: values.key }),
});
process.stdout.write(`${JSON.stringify({ port: sim.port, url: sim.url, pid: process.pid })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void sim.close().then(() => process.exit(0)));
}
