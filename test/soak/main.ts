// node test/soak/main.ts --hours 24 --calls 10000000 …: a line for each hour of the moved clock, and what is wrong at the end.
import { parseArgs } from 'node:util';
import { flat } from './flat.ts';
import { beforeMonthEnd, runSoak } from './run.ts';

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    calls: { type: 'string', default: '10000000' },
    'http-calls': { type: 'string', default: '50000' },
    topups: { type: 'string', default: '50000' },
    'deploy-hours': { type: 'string', default: '1' },
    'key-hours': { type: 'string', default: '6' },
    'verify-hours': { type: 'string', default: '6' },
    seed: { type: 'string', default: '7' },
  },
});
const hours = Number(values.hours);
const report = await runSoak({
  hours,
  seed: Number(values.seed),
  calls: Number(values.calls),
  http_calls: Number(values['http-calls']),
  topups: Number(values.topups),
  deploy_hours: Number(values['deploy-hours']),
  key_hours: Number(values['key-hours']),
  verify_hours: Number(values['verify-hours']),
  starts_ms: beforeMonthEnd(hours),
  progress: (line) => process.stdout.write(`${line}\n`),
});
const faults = [...report.faults, ...flat(report.figures)];
for (const fault of faults.slice(0, 50)) process.stdout.write(`  ${fault}\n`);
const { loaded, http_calls, topups, events, deployments, key_rotations, months } = report;
process.stdout.write(
  `${faults.length === 0 ? 'ok' : 'FAULT'}: ${report.hours} hours, ${loaded} calls booked and ${http_calls} over HTTP, ${topups} top-ups, ${events} events told, ` +
    `${deployments} deployments of a gateway, ${key_rotations} root keys, ${months} ends of a month, seed ${values.seed}\n`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
