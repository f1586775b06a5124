// node test/citus/main.ts --address postgres://…: the ledger's tests, calls, crashes and moves of a ledger in a Citus cluster
// (`make citus`, docs/operate/citus.md).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { root } from '../suite/parts.ts';
import { serversOf } from './cluster.ts';

const { values } = parseArgs({
  options: {
    address: { type: 'string', default: '' },
    rounds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '7' },
  },
});
if (values.address === '')
  throw new Error('name the coordinator of a cluster: make citus ADDRESS=postgres://…');

const env = { ...process.env, TEST_CITUS: (await serversOf(values.address)).join(' ') };
async function run(...args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

const { rounds, seed } = values;
const parts = {
  tests: () => run('node_modules/vitest/vitest.mjs', 'run', '--mode', 'citus', '--maxWorkers=1'),
  crash: () => run('test/crash/main.ts', '--shards', '3', '--rounds', rounds, '--seed', seed),
  moves: () => run('test/citus/move.ts'),
};
for (const [name, part] of Object.entries(parts)) {
  const ok = await part();
  process.stdout.write(`citus: ${name}: ${ok ? 'ok' : 'FAILED'}\n`);
  if (!ok) process.exitCode = 1;
}
