// The console is built where it is missing or older than what it is made of; the admin program reads it at its start.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './start.ts';

const SOURCES = [
  ...['console/src', 'console/public', 'console/index.html', 'console/vite.config.ts'],
  ...['console/build.ts', 'console/codegen.ts', 'graphql/tenant/schema.graphql', 'package-lock.json'],
];
/** Made by the build itself. */
const GENERATED = 'console/src/api/gen';
/** What the build writes last. */
const BUILT = 'console/dist/operations.json';

function newestOf(path: string): number {
  if (path === join(root, GENERATED)) return 0;
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newestOf(join(path, name))));
}

/** Whether there is a console, and whether it is of the present sources. */
export function lookAtConsole(): 'missing' | 'stale' | 'current' {
  const built = statSync(join(root, BUILT), { throwIfNoEntry: false });
  if (built === undefined) return 'missing';
  const newest = Math.max(...SOURCES.map((source) => newestOf(join(root, source))));
  return newest > built.mtimeMs ? 'stale' : 'current';
}
