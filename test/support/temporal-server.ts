// A Temporal server for tests: the development server of the Temporal CLI, in memory unless a file is named. Nothing
// here needs vitest; tests use temporal.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { type Engine, startEngine, toolPath, untilAnswer } from './engine.ts';

export const NAMESPACE = 'svc';

export interface TemporalAddress {
  /** `host:port` for clients and workers. */
  readonly address: string;
  readonly namespace: string;
  readonly ui_url: string;
}

export interface TestTemporal extends TemporalAddress {
  readonly port: number;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts a server on the same ports; it has the data of the killed one only when that had a `db_file`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TemporalOptions {
  readonly port?: number;
  /** SQLite file that keeps the state. */
  readonly db_file?: string;
  /** Has the file not wait for the disk: what the machine's disk takes is not what is measured. */
  readonly unsynced?: true;
  /** Type (`Keyword`, `Int`, …) by name, registered at the start. */
  readonly search_attributes?: Readonly<Record<string, string>>;
}

async function untilNamespace(http_port: number): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${http_port}/api/v1/namespaces/${NAMESPACE}`, {
    signal: AbortSignal.timeout(2_000),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${reply.status} ${text.slice(0, 200)}`);
}

/** Starts a server; the caller stops it, for instance with `atFileEnd(() => temporal.stop())`. */
export async function startTemporal(options: TemporalOptions = {}): Promise<TestTemporal> {
  const program = await toolPath('temporal');
  const port = options.port ?? (await freePort());
  const [ui_port, http_port, metrics_port] = [await freePort(), await freePort(), await freePort()];
  const dir = mkdtempSync(join(tmpdir(), 'svc-temporal-'));
  const args = [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(ui_port)],
    ...['--http-port', String(http_port), '--metrics-port', String(metrics_port)],
    ...['--namespace', NAMESPACE, '--log-level', 'error', '--ui-disable-news-fetch'],
    ...(options.db_file === undefined ? [] : ['--db-filename', options.db_file]),
    ...(options.unsynced === true ? ['--sqlite-pragma', 'synchronous=0'] : []),
    ...Object.entries(options.search_attributes ?? {}).flatMap(([name, type]) => [
      '--search-attribute',
      `${name}=${type}`,
    ]),
  ];
  const start = async (): Promise<Engine> => {
    const engine = startEngine(program, args, dir);
    await untilAnswer(engine, () => untilNamespace(http_port));
    return engine;
  };
  let engine = await start();
  return {
    address: `127.0.0.1:${port}`,
    namespace: NAMESPACE,
    ui_url: `http://127.0.0.1:${ui_port}`,
    port,
    kill: () => engine.kill(),
    async restart() {
      await engine.kill();
      engine = await start();
    },
    async stop() {
      await engine.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
