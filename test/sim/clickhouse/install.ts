// npm `chdb`, which holds the engine of ClickHouse. At 550 MB it is no dependency of the product: it is installed once, into
// the folder that keeps tools.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '@svc/cli/tools/program.ts';
import { toolsDirectory } from '@svc/cli/tools/python.ts';

const VERSION = '3.4.0';
/** A peer of the engine's package. */
const CLIENT = '@clickhouse/client@1.23.1';
const LIMIT_MS = 10 * 60_000;

/** The folder with the engine, which is installed on first use. @throws Error when it cannot be downloaded. */
export async function ensureChdb(say: (message: string) => void = () => {}): Promise<string> {
  const folder = join(toolsDirectory(), `chdb-${VERSION}`);
  const there = () => existsSync(join(folder, 'node_modules/chdb/package.json'));
  if (there()) return folder;
  say(`chdb ${VERSION}: downloading`);
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, 'package.json'), '{"private":true}');
  const args = ['install', '--no-audit', '--no-fund', `chdb@${VERSION}`, CLIENT];
  const { code, output } = await runCommand('npm', { args, cwd: fresh, limit_ms: LIMIT_MS });
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`npm could not install chdb ${VERSION}:\n${output}`);
  }
  try {
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (error) {
    // Another run was first.
    rmSync(fresh, { recursive: true, force: true });
    if (!there()) throw error;
  }
  return folder;
}
