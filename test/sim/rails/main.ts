// The rail simulator as a program: `node test/sim/rails/main.ts --port 0 [--webhook-url URL] [--webhook-secret S]…
// [--key KEY]… [--state FILE]` prints one line {"port","url","pid"} when it listens, and ends on SIGTERM or SIGINT.
import { parseArgs } from 'node:util';
import { startRailSim } from './server.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    'webhook-url': { type: 'string' },
    'webhook-secret': { type: 'string', multiple: true },
    key: { type: 'string', multiple: true },
    state: { type: 'string' },
  },
});
const url = values['webhook-url'];
const secrets = values['webhook-secret'];

const sim = await startRailSim({
  port: Number(values.port),
  host: values.host,
  ...(url !== undefined && { webhook_url: url }),
  ...(secrets !== undefined && { webhook_secrets: secrets }),
  ...(values.key !== undefined && { keys: values.key }),
  ...(values.state !== undefined && { state_file: values.state }),
});
process.stdout.write(`${JSON.stringify({ port: sim.port, url: sim.url, pid: process.pid })}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void sim.close().then(() => process.exit(0)));
}
