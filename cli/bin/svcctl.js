#!/usr/bin/env node
// `npx svcctl` runs under whichever Node is on PATH; the programs are TypeScript and need the pinned Node 24, so
// this file hands over to it. Plain JavaScript for that reason.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = join(dirname(fileURLToPath(import.meta.url)), '..');
const pinned = join(cli, '../node_modules/.bin/node');
// Stripped and compiled sources are kept over runs: halves the time to the first output.
const compiled = { NODE_COMPILE_CACHE: join(cli, '../.cache/compile') };

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import('../main.ts');
} else if (existsSync(pinned)) {
  const args = [join(cli, 'main.ts'), ...process.argv.slice(2)];
  // Ctrl-C reaches both: the child decides, this process reports how it ended.
  process.on('SIGINT', () => {});
  const { status, signal } = spawnSync(pinned, args, {
    stdio: 'inherit',
    env: { ...compiled, ...process.env },
  });
  process.exit(status ?? 128 + (constants.signals[signal] ?? 1));
} else {
  process.stderr.write('svcctl needs the packages of this repository: run `make up` (or `npm ci`) first.\n');
  process.exit(1);
}
