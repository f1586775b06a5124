// node test/mutations/product/main.ts [--only WORDS]: breaks the product in each of the ways and requires that the crash
// test notices within ten rounds (`make mutations`).
import { parseArgs } from 'node:util';
import { runCrash } from '../../crash/run.ts';
import { type Mutation, mutations } from './mutations.ts';

/** What was lost never comes: twice what a sound round takes at most is enough to wait. */
const QUIET_MS_MAX = 15_000;
const AT_A_TIME = 3;

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const wanted = mutations.filter(({ name }) => name.includes(values.only));
const queue = [...wanted];
let survived = 0;

async function check({ name, kinds, broken, said }: Mutation): Promise<void> {
  const began = performance.now();
  const report = await runCrash({
    ...{ rounds: 10, seed: 11, calls: 150, in_flight: 80, quiet_ms_max: QUIET_MS_MAX },
    ...(kinds === undefined ? {} : { kinds }),
    ...broken,
  });
  const noticed = said.test(report.faults.join('\n'));
  if (!noticed) survived++;
  const seconds = Math.round((performance.now() - began) / 1_000);
  const words = noticed ? `noticed in round ${report.rounds.length}` : 'SURVIVED';
  process.stdout.write(`${words}, ${seconds} s: ${name}\n`);
  if (!noticed)
    process.stdout.write(
      report.faults
        .slice(0, 5)
        .map((fault) => `  ${fault}\n`)
        .join(''),
    );
}

async function work(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    try {
      await check(next);
    } catch (error) {
      survived++;
      process.stdout.write(`FAILED: ${next.name}: ${(error as Error).message.slice(0, 600)}\n`);
    }
  }
}

await Promise.all(Array.from({ length: AT_A_TIME }, work));
process.stdout.write(`${wanted.length - survived} of ${wanted.length} noticed\n`);
process.exitCode = survived === 0 ? 0 : 1;
