// Starts the simulated ClickHouse server in a process of its own, which a test may kill, pause and start again.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { type Engine, startEngine, untilAnswer } from '../../support/engine.ts';
import { askEngine } from '../../support/engines.ts';
import { ensureChdb } from './install.ts';

const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));

export interface TestClickHouse {
  /** With a database that is made on first use of `database`. */
  readonly url: string;
  readonly pid: number;
  /** The address of a new database on the server. */
  database(name: string): Promise<string>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with its data. */
  restart(): Promise<void>;
  /** Its connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

async function answer(url: string): Promise<void> {
  const reply = await fetch(`${url}/ping`);
  if (!reply.ok) throw new Error(`ping answered ${reply.status}`);
}

async function makeDatabase(url: string, name: string): Promise<string> {
  const made = await fetch(`${url}/`, { method: 'POST', body: `create database ${name}` });
  if (!made.ok) throw new Error(await made.text());
  return `http://svc:secret-of-clickhouse@${new URL(url).host}/${name}`;
}

/** The address of a new database on the server that all files of this run share. */
export async function sharedClickHouse(): Promise<string> {
  const { url } = await askEngine<{ url: string }>('clickhouse');
  return makeDatabase(url, `t_${randomUUID().replaceAll('-', '')}`);
}

/** Starts a server, with `prefix` before its program (`taskset`); the caller stops it, for instance with `atFileEnd(() => clickhouse.stop())`. */
export async function startClickHouse(prefix: readonly string[] = []): Promise<TestClickHouse> {
  const chdb = await ensureChdb();
  const data = mkdtempSync(join(tmpdir(), 'svc-clickhouse-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<Engine> => {
    const [program = '', ...args] = [...prefix, process.execPath, SERVER, chdb, data, String(port)];
    const engine = startEngine(program, args, data);
    await untilAnswer(engine, () => answer(url));
    return engine;
  };
  let engine = await start();
  return {
    url,
    get pid() {
      return engine.pid;
    },
    database: (name) => makeDatabase(url, name),
    kill: () => engine.kill(),
    async restart() {
      await engine.kill();
      engine = await start();
    },
    pause: () => process.kill(engine.pid, 'SIGSTOP'),
    resume: () => process.kill(engine.pid, 'SIGCONT'),
    async stop() {
      await engine.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
