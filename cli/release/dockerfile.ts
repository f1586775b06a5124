// Runs the lines of the Dockerfile without Docker: each stage is a folder in which COPY and RUN act. It supports what our
// Dockerfile uses and refuses everything else, so that what a test shows of the folder is true of the image.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';

interface Line {
  readonly word: string;
  readonly rest: string;
}

export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly lines: readonly Line[];
}

/** The stages of a Dockerfile in order; the last one is the image and may have no name. */
export function readStages(text: string): Stage[] {
  const stages: { name: string; base: string; lines: Line[] }[] = [];
  for (const raw of text.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(raw.trim()) ?? [];
    if (word === 'FROM') {
      const [base = '', , name = ''] = rest.split(/\s+/);
      stages.push({ name, base, lines: [] });
    } else if (word !== '') stages.at(-1)?.lines.push({ word, rest });
  }
  return stages;
}

/** One rule of .dockerignore: whether it includes or excludes, and which paths. */
function readRule(line: string): { included: boolean; pattern: RegExp } {
  const included = line.startsWith('!');
  const glob = included ? line.slice(1) : line;
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**/', '<any>')
    .replaceAll('*', '[^/]*')
    .replaceAll('<any>', '(?:.*/)?');
  return { included, pattern: new RegExp(`^${source}(?:/|$)`) };
}

/** Whether .dockerignore includes `path` (from the top, forward slashes) in the build; the last matching rule decides. */
export function readIgnore(text: string): (path: string) => boolean {
  const rules = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(readRule);
  return (path) => rules.findLast(({ pattern }) => pattern.test(path))?.included ?? true;
}

/** Files of `folder` below `root` that the build sees. */
function listFiles(root: string, folder: string, isSeen: (path: string) => boolean): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    // These are never entered, whatever the rules say: they are half a gigabyte that the build does not need.
    if (entry.name === 'node_modules' || entry.name === '.git') return [];
    if (entry.isDirectory()) return listFiles(root, path, isSeen);
    return isSeen(path) ? [path] : [];
  });
}

export interface Build {
  /** The top of the repository: what `docker build .` would send. */
  readonly context: string;
  /** Folder for the stages. */
  readonly into: string;
  readonly env: NodeJS.ProcessEnv;
  /** Called with every process, so that none outlives a test that is killed. */
  readonly started: (child: ChildProcess) => void;
}

/** Builds all stages, those that do not need each other at once, and returns the folder of the image's root. */
export async function buildStages(stages: readonly Stage[], build: Build): Promise<string> {
  const isSeen = readIgnore(readFileSync(join(build.context, '.dockerignore'), 'utf8'));
  const seen = listFiles(build.context, '.', isSeen);
  const done = new Map<string, Promise<string>>();
  for (const stage of stages) {
    const root = join(build.into, stage.name === '' ? 'image' : stage.name);
    done.set(stage.name, runStage(stage, { ...build, root, seen, stageRoot: (name) => done.get(name) }));
  }
  return (await Promise.all(done.values())).at(-1) as string;
}

interface Running extends Build {
  readonly root: string;
  readonly seen: readonly string[];
  stageRoot(name: string): Promise<string> | undefined;
}

async function runStage(stage: Stage, running: Running): Promise<string> {
  const { root } = running;
  const base = await running.stageRoot(stage.base);
  mkdirSync(root, { recursive: true });
  if (base !== undefined) cpSync(base, root, { recursive: true, verbatimSymlinks: true });
  let folder = join(root, 'svc');
  for (const { word, rest } of stage.lines) {
    if (word === 'WORKDIR') {
      folder = join(root, rest);
      mkdirSync(folder, { recursive: true });
    } else if (word === 'COPY') await copy(rest, folder, running);
    else if (word === 'RUN') await run(rest, folder, running);
    else if (!['ENV', 'USER', 'EXPOSE', 'ENTRYPOINT', 'CMD'].includes(word))
      throw new Error(`the Dockerfile has a line that this test does not know: ${word} ${rest}`);
  }
  return root;
}

async function copy(rest: string, folder: string, running: Running): Promise<void> {
  const words = rest.split(/\s+/);
  const stage = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
  const sources = words.slice(stage === undefined ? 0 : 1, -1);
  const target = join(folder, words.at(-1) ?? '');
  for (const source of sources) {
    if (stage !== undefined) {
      const from = join((await running.stageRoot(stage)) as string, source);
      if (!existsSync(from)) throw new Error(`COPY --from=${stage}: ${source} is not there`);
      // Hard links, so that half a gigabyte is not copied; nothing writes to either side from here on.
      mkdirSync(target, { recursive: true });
      await run(`cp -al '${from}/.' '${target}'`, folder, running);
    } else copyFromContext(source, target, running);
  }
}

/** A folder's content goes into `target`, a file keeps its name in it, as in Docker. */
function copyFromContext(source: string, target: string, { context, seen }: Running): void {
  const isFolder = statSync(join(context, source)).isDirectory();
  const files = seen.filter((path) => path === source || path.startsWith(`${source}/`));
  if (files.length === 0) throw new Error(`COPY ${source}: .dockerignore leaves nothing of it`);
  for (const path of files) {
    const to = join(target, isFolder ? relative(source, path) : posix.basename(path));
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(context, path), to);
  }
}

function run(command: string, folder: string, { env, started }: Running): Promise<void> {
  const child = spawn('sh', ['-c', command], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  started(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output = (output + piece.toString()).slice(-8_192);
    });
  }
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) done();
      else fail(new Error(`RUN ${command} ended with ${code}:\n${output}`));
    });
  });
}
