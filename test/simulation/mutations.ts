// node test/simulation/mutations.ts [--seeds N] [--only WORDS]: breaks the product in each of the ways of test/mutations, and
// prints with which seed the simulation noticed. Functions of the ledger are put back one after another in one process; what
// changes sources or constraints has a process of its own.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installSockets } from './engine/database.ts';
import { installFiles } from './engine/files.ts';
import { installTime } from './engine/timers.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '60' }, only: { type: 'string', default: '' } },
});
installTime();
installFiles();
installSockets();
const { breakBy, brokenNames, isOnlyFunction } = await import('./world/broken.ts');
const { openInstallation } = await import('./world/open.ts');
const { run } = await import('./world/run.ts');

const seeds = Number(values.seeds);
const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const FUNCTIONS = `select pg_get_functiondef(oid) as source from pg_proc where pronamespace = 'ledger'::regnamespace`;

/** The first seed that finds a fault, and what it says of it. */
type Noticed = { readonly seed: number; readonly said: string } | null;

const installation = await openInstallation();
const { postgres } = installation.engines['ledger.sim'];
const sound = (await postgres.query<{ source: string }>(FUNCTIONS)).rows.map(({ source }) => source);

async function inThisProcess(name: string): Promise<Noticed> {
  await breakBy(name).apply(postgres);
  try {
    for (let seed = 1; seed <= seeds; seed++) {
      const { faults } = await run(installation, seed, 1);
      if (faults.length > 0) return { seed, said: (faults[0] as string).split('\n')[0] as string };
    }
    return null;
  } finally {
    for (const source of sound) await postgres.exec(source);
  }
}

function inAnother(name: string): Noticed {
  try {
    execFileSync(process.execPath, [MAIN, '--seeds', String(seeds), '--broken', name], { stdio: 'pipe' });
    return null;
  } catch (error) {
    const text =
      String((error as { stdout?: Buffer }).stdout) + String((error as { stderr?: Buffer }).stderr);
    const found = /seed (\d+):\n {2}(.*)/.exec(text);
    if (found === null) throw new Error(`${name}: ${text.slice(-2_000)}`);
    return { seed: Number(found[1]), said: found[2] as string };
  }
}

let survived = 0;
for (const name of brokenNames.filter((one) => one.includes(values.only))) {
  const noticed = isOnlyFunction(name) ? await inThisProcess(name) : inAnother(name);
  if (noticed === null) survived++;
  const words = noticed === null ? `no, in ${seeds} | ` : `${noticed.seed} | ${noticed.said.slice(0, 110)}`;
  process.stdout.write(`| ${name} | ${words} |\n`);
}
process.stdout.write(`${survived} were not noticed\n`);
process.exit(0);
