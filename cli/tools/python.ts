// A Python with the official OpenAI and Anthropic clients, one with LangChain, and one with a generator of clients and a
// type checker, for tests that call the gateway as a Python program would. Only python3 and pip are needed: the packages are put into a folder of the tools cache, not
// into the system, and a two-line launcher shows them to Python.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** LangChain stands alone: it wants another major version of the Anthropic client than the newest. */
const sets = {
  clients: { variable: 'SVC_PYTHON_BIN', packages: ['openai==3.54.0', 'anthropic==2.12.0'] },
  langchain: {
    variable: 'SVC_PYTHON_LANGCHAIN_BIN',
    packages: ['langchain-openai==1.6.7', 'langchain-anthropic==1.6.1', 'langchain-core==1.7.2'],
  },
  generator: {
    variable: 'SVC_PYTHON_GENERATOR_BIN',
    packages: ['openapi-python-client==0.29.1', 'mypy==2.4.1'],
  },
  fuzzer: { variable: 'SVC_PYTHON_FUZZER_BIN', packages: ['schemathesis==4.32.5'] },
} as const;
type PythonSet = keyof typeof sets;

/** The folder that tools are kept in over runs and checkouts: SVC_TOOLS_DIR, else ~/.cache/svc-tools. */
export function toolsDirectory(): string {
  return process.env['SVC_TOOLS_DIR'] || join(homedir(), '.cache/svc-tools');
}

/** The real interpreter (not a shim that looks at the working directory) with its version, or null. */
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

/** Path of the launcher if it is installed for this version of Python and these packages, or null. */
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
  const name = sets[set].packages.map((one) => one.replace('==', '-')).join('-');
  return join(toolsDirectory(), `python${version}-${name}`);
}

/** Renames `fresh` to `folder`, unless another run has put its own there meanwhile, which serves as well. */
function putInPlace(fresh: string, folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(join(folder, 'python'))) throw error;
  }
}

/**
 * Path of a Python that can import the packages of `set` (the official clients) at the pinned versions, installed on
 * first use.
 * @throws Error when python3 or pip is missing or the packages cannot be had: a missing tool fails tests.
 */
export async function ensurePythonClients(
  progress: (message: string) => void,
  set: PythonSet = 'clients',
): Promise<string> {
  const found = findPythonClients(set);
  if (found !== null) return found;
  const python = findPython();
  if (python === null) throw new Error('python3 is needed for the tests with the official Python clients');
  const folder = folderFor(python.version, set);
  const { packages } = sets[set];
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
