// The rules over the whole repository without the test runner, for `make check`: a second instead of several.
import { rules } from './list.ts';
import { readSources, shown } from './sources.ts';

const sources = readSources();
const faults = rules.flatMap(([name, rule]) => shown(rule(sources)).map((fault) => `${fault} (${name})`));
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.stdout.write(`tidy: ${rules.length} rules, ${sources.length} files, ${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
