// node test/crash-money/main.ts --rounds 50 --seed 7: prints each round, and what is wrong at the end.
import { parseArgs } from 'node:util';
import { runMoneyCrash } from './run.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const report = await runMoneyCrash({
  rounds: Number(values.rounds),
  seed: Number(values.seed),
  progress: (line) => process.stdout.write(`${line}\n`),
});
for (const fault of report.faults.slice(0, 50)) process.stdout.write(`  ${fault}\n`);
const { rounds, seed, topups, refunds, gifts, disputes, debits, fees, grants } = report;
const counts = `${topups} top-ups, ${refunds} refunds, ${gifts} gifts, ${disputes} disputes, ${debits} debits, ${fees} fees, ${grants} grants`;
process.stdout.write(
  report.faults.length === 0
    ? `ok: ${rounds} rounds, ${counts}, seed ${seed}\n`
    : `FAULT: replay with --rounds ${rounds} --seed ${seed}\n`,
);
process.exitCode = report.faults.length === 0 ? 0 : 1;
