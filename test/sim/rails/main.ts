// The rail simulators as a program: `node test/sim/rails/main.ts --port 0 [--rail-a-port 0]` with, for each rail, where
// its events go (`--webhook-url`), what signs them (`--webhook-secret`, more than once), its keys (`--key`) and the file
// that outlives it (`--state`); those of rail-a begin with `--rail-a-`. It prints one line {"port","url","pid"} (and
// `rail_a_url`) when it listens, and ends on SIGTERM or SIGINT. Without `--port` rail-a is there alone.
import { parseArgs } from 'node:util';
import { startRailASim } from './rail-a/index.ts';
import { type RailSimOptions, startRailSim } from './server.ts';

const one = { type: 'string' } as const;
const many = { type: 'string', multiple: true } as const;
const { values } = parseArgs({
  options: {
    port: one,
    host: { type: 'string', default: '127.0.0.1' },
    'webhook-url': one,
    'webhook-secret': many,
    key: many,
    state: one,
    'rail-a-port': one,
    'rail-a-webhook-url': one,
    'rail-a-webhook-secret': many,
    'rail-a-key': many,
    'rail-a-state': one,
  },
});

function optionsOf(prefix: '' | 'rail-a-', port: string): RailSimOptions {
  const url = values[`${prefix}webhook-url`];
  const secrets = values[`${prefix}webhook-secret`];
  const keys = values[`${prefix}key`];
  const state = values[`${prefix}state`];
  return {
    port: Number(port),
    host: values.host,
    ...(url !== undefined && { webhook_url: url }),
    ...(secrets !== undefined && { webhook_secrets: secrets }),
    ...(keys !== undefined && { keys }),
    ...(state !== undefined && { state_file: state }),
  };
}

const port_a = values['rail-a-port'];
const port_b = values.port ?? (port_a === undefined ? '0' : undefined);
const rail_b = port_b === undefined ? null : await startRailSim(optionsOf('', port_b));
const rail_a = port_a === undefined ? null : await startRailASim(optionsOf('rail-a-', port_a));
const first = rail_b ?? rail_a;
const line = {
  port: first?.port,
  url: first?.url,
  pid: process.pid,
  ...(rail_a && { rail_a_url: rail_a.url }),
};
process.stdout.write(`${JSON.stringify(line)}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(
    signal,
    () => void Promise.all([rail_b?.close(), rail_a?.close()]).then(() => process.exit(0)),
  );
}
