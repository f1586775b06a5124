// Makes Python interpreters with packages for the tests that call the gateway as a Python program would: one with the
// official OpenAI and Anthropic clients, several with frameworks over them, one with a client generator and a type
// checker. Only python3 and pip are needed. The packages go into a folder of the tools cache, not into the system, and a two-line
// launcher puts that folder on Python's path.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Sets are apart where they need other versions of the official clients; `make test` uses neither LiteLLM nor aider. */
const sets = {
  clients: { variable: 'SVC_PYTHON_BIN', packages: ['openai==3.54.0', 'anthropic==2.12.0'] },
  langchain: {
    variable: 'SVC_PYTHON_LANGCHAIN_BIN',
    packages: [
      'langchain-openai==1.6.7',
      'langchain-anthropic==1.6.1',
      'langchain-core==1.7.2',
      'langgraph==1.2.22',
    ],
  },
  frameworks: {
    variable: 'SVC_PYTHON_FRAMEWORKS_BIN',
    packages: ['pydantic-ai-slim[openai,anthropic]==2.68.0', 'openai-agents==0.24.0'],
  },
  instructor: {
    variable: 'SVC_PYTHON_INSTRUCTOR_BIN',
    packages: ['instructor==1.17.0', 'anthropic==2.12.0'],
  },
  litellm: { variable: 'SVC_PYTHON_LITELLM_BIN', packages: ['litellm==1.106.2'] },
  aider: { variable: 'SVC_PYTHON_AIDER_BIN', packages: ['aider-chat==0.86.2'] },
  generator: {
    variable: 'SVC_PYTHON_GENERATOR_BIN',
    packages: ['openapi-python-client==0.29.1', 'mypy==2.4.1'],
  },
  fuzzer: { variable: 'SVC_PYTHON_FUZZER_BIN', packages: ['schemathesis==4.32.5'] },
} as const;
export type PythonSet = keyof typeof sets;

/** The folder that keeps tools between runs and checkouts: SVC_TOOLS_DIR, or ~/.cache/svc-tools. */
export function toolsDirectory(): string {
  return process.env['SVC_TOOLS_DIR'] || join(homedir(), '.cache/svc-tools');
}

/** The interpreter itself (not a shim that depends on the working directory) with its version, or null. */
export function findPython(): { path: string; version: string } | null {
  const found = spawnSync(
    'python3',
    ['-c', 'import sys; print(sys.executable); print("%d.%d" % sys.version_info[:2])'],
    { encoding: 'utf8' },
  );
  const [path, version] = (found.stdout ?? '').trim().split('\n');
  return found.status === 0 && path && version ? { path, version } : null;
}

function pipInstall(python: string, target: string, packages: readonly string[]): Promise<void> {
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--target',
    target,
    ...packages,
  ];
  const child = spawn(python, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-4096);
    });
  }
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) =>
      code === 0 ? done() : fail(new Error(`pip could not install ${packages.join(', ')}: ${output.trim()}`)),
    );
  });
}

/** Path of the launcher when it is installed for this version of Python and these packages; otherwise null. */
export function findPythonClients(set: PythonSet = 'clients'): string | null {
  const given = process.env[sets[set].variable];
  if (given) return given;
  const python = findPython();
  if (python === null) return null;
  const launcher = join(folderFor(python.version, set), 'python');
  return existsSync(launcher) && readFileSync(launcher, 'utf8').includes(`'${python.path}'`)
    ? launcher
    : null;
}

function folderFor(version: string, set: PythonSet): string {
  const name = sets[set].packages.map((one) => one.replace('==', '-').replaceAll(/[^\w.-]/g, '_')).join('-');
  return join(toolsDirectory(), `python${version}-${name}`);
}

/** Renames `fresh` to `folder`. When another run has created the folder meanwhile, that one is used. */
function putInPlace(fresh: string, folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(join(folder, 'python'))) throw error;
  }
}

/**
 * Path of a Python that can import the packages of `set` (default: the official clients) at the pinned versions,
 * which are installed on first use.
 * @throws Error when python3 or pip is missing or the packages cannot be downloaded: tests fail when a tool is
 * missing.
 */
export async function ensurePythonClients(
  progress: (message: string) => void,
  set: PythonSet = 'clients',
): Promise<string> {
  const found = findPythonClients(set);
  if (found !== null) return found;
  const python = neededPython();
  return install(python, { folder: folderFor(python.version, set), packages: sets[set].packages, progress });
}

/** The same with the newest versions, which are installed each time. */
export function installNewest(progress: (message: string) => void, set: PythonSet): Promise<string> {
  const python = neededPython();
  const packages = sets[set].packages.map((one) => one.replace(/==.*/, ''));
  const folder = join(toolsDirectory(), `python${python.version}-${set}-newest`);
  return install(python, { folder, packages, progress });
}

/** Version of each package of `set` that is pinned. */
export function pinnedVersion(set: PythonSet, name: string): string {
  const found = sets[set].packages.find((one) => one.replace(/[[=].*/, '') === name);
  return found?.replace(/.*==/, '') ?? '';
}

function neededPython(): { path: string; version: string } {
  const python = findPython();
  if (python === null) throw new Error('python3 is needed for the tests with the official Python clients');
  return python;
}

async function install(
  python: { path: string; version: string },
  wanted: { folder: string; packages: readonly string[]; progress: (message: string) => void },
): Promise<string> {
  const { folder, packages, progress } = wanted;
  const fresh = `${folder}.${process.pid}`;
  progress(`installing ${packages.join(' and ')} into ${folder}`);
  mkdirSync(fresh, { recursive: true });
  try {
    await pipInstall(python.path, join(fresh, 'site'), packages);
    const launcher = `#!/bin/sh\nPYTHONPATH='${join(folder, 'site')}' exec '${python.path}' "$@"\n`;
    writeFileSync(join(fresh, 'python'), launcher, { mode: 0o755 });
    putInPlace(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return join(folder, 'python');
}
