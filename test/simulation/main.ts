// node test/simulation/main.ts [--seed N] [--seeds N] [--trace]: runs seeds on virtual time (`make simulate`).
import { parseArgs } from 'node:util';
import { installSockets } from './engine/database.ts';
import { installFiles } from './engine/files.ts';
import { installTime, realMs } from './engine/timers.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '200' },
    trace: { type: 'boolean', default: false },
    hashes: { type: 'boolean', default: false },
  },
});
// Before the product is loaded, which may keep what it finds.
installTime();
installFiles();
installSockets();
const { openInstallation } = await import('./world/open.ts');
const { run } = await import('./world/run.ts');

const began_ms = realMs();
const installation = await openInstallation();
process.stdout.write(`installation made in ${Math.round(realMs() - began_ms)} ms\n`);
const first = Number(values.seed);
const count = Number(values.seeds);
let calls = 0;
let events = 0;
let failed = false;
const runs_ms = realMs();
for (let seed = first; seed < first + count; seed++) {
  const report = await run(installation, seed, values.trace ? 1_000_000 : 50);
  calls += report.calls;
  events += report.events;
  if (values.hashes)
    process.stdout.write(
      `${seed} ${report.trace_hash} ${report.calls} calls ${report.charged_micro_usd} charged\n`,
    );
  if (report.faults.length === 0 && !values.trace) continue;
  process.stdout.write(`${report.lines.join('\n')}\n`);
  process.stdout.write(`seed ${seed}: ${report.faults.join('\n  ')}\n`);
  if (report.faults.length === 0) continue;
  failed = true;
  break;
}
const seconds = (realMs() - runs_ms) / 1_000;
process.stdout.write(
  `${calls} calls, ${events} events in ${seconds.toFixed(1)} s (cpu ${(process.cpuUsage().user / 1e6).toFixed(1)}): ${failed ? 'FAULTS' : 'ok'}\n`,
);
process.exit(failed ? 1 : 0);
