// node test/crash/main.ts --rounds 10 --seed 7 [--shards 3] [--standby]: prints each round, and the seed again when a round found a fault.
import { parseArgs } from 'node:util';
import { runCrash } from './run.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    calls: { type: 'string', default: '400' },
    shards: { type: 'string', default: '1' },
    standby: { type: 'boolean', default: false },
  },
});
const report = await runCrash({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  calls: Number(values.calls),
  shards: values.shards === '3' ? 3 : 1,
  ...(values.standby ? { standby: 'synchronous' } : {}),
  progress: (line) => process.stdout.write(`${line}\n`),
});
for (const fault of report.faults.slice(0, 50)) process.stdout.write(`  ${fault}\n`);
process.stdout.write(
  report.faults.length === 0
    ? `ok: ${report.rounds.length} rounds, ${report.calls} calls, ${report.charged_micro_usd} micro-USD charged, seed ${report.seed}\n`
    : `FAULT in round ${report.rounds.length}: replay with --rounds ${report.rounds.length} --seed ${report.seed} --shards ${values.shards}${values.standby ? ' --standby' : ''}\n`,
);
process.exitCode = report.faults.length === 0 ? 0 : 1;
