// node test/simulation/main.ts [--seed N] [--seeds N] [--trace] [--hashes] [--broken NAME]: runs seeds on virtual time, one
// after another, until one finds a fault (`make simulate`).
import { parseArgs } from 'node:util';
import { installSockets } from './engine/database.ts';
import { installFiles } from './engine/files.ts';
import { installTime, realMs } from './engine/timers.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '200' },
    /** Print the whole trace of each run. */
    trace: { type: 'boolean', default: false },
    /** Print the hash of each run's trace. */
    hashes: { type: 'boolean', default: false },
    /** Run the product with one of the mutations of test/mutations. */
    broken: { type: 'string' },
  },
});
// Before the product is loaded, which may keep what it finds.
installTime();
installFiles();
installSockets();
const broken =
  values.broken === undefined ? null : (await import('./world/broken.ts')).breakBy(values.broken);
const { openInstallation } = await import('./world/open.ts');
const { run } = await import('./world/run.ts');

const PROGRESS = 500;
const ALL_LINES = 1_000_000;
const LAST_LINES = 100;
const print = (line: string) => process.stdout.write(`${line}\n`);

const installation = await openInstallation(broken);
const first = Number(values.seed);
const last = first + Number(values.seeds) - 1;
let calls = 0;
let payments = 0;
let events = 0;
let seed = first;
let faults: readonly string[] = [];
// The first run of a process meets caches of the servers that are empty; all others find them as this one leaves them.
await run(installation, 0, 1);
const began_ms = realMs();
for (; seed <= last && faults.length === 0; seed++) {
  const report = await run(installation, seed, values.trace ? ALL_LINES : LAST_LINES);
  calls += report.calls;
  payments += report.payments;
  events += report.events;
  faults = report.faults;
  if (values.hashes) print(`${seed} ${report.trace_hash}`);
  if (values.trace || (faults.length > 0 && broken === null)) print(report.lines.join('\n'));
  if ((seed - first + 1) % PROGRESS === 0) print(`up to seed ${seed}: ${calls} calls, ${payments} payments`);
}
const seconds = ((realMs() - began_ms) / 1_000).toFixed(1);
const done = `${seed - first} seeds, ${calls} calls, ${payments} payments, ${events} events in ${seconds} s`;
if (faults.length === 0) print(`${done}: no fault`);
else {
  print(`seed ${seed - 1}:\n  ${faults.join('\n  ')}`);
  print(`${done}. Again, with its trace: node test/simulation/main.ts --seed ${seed - 1} --seeds 1 --trace`);
}
process.exit(faults.length === 0 ? 0 : 1);
