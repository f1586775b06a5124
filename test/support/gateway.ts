// Starts a real gateway process for tests: `node gateway/main.ts` on a free port, with the caller's database and a
// providers file that names simulators. Nothing here needs vitest, so that the crash test and the benchmark can use
// it from the command line too.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import type { Formats } from '@svc/core/inference/index.ts';
import type { Log } from '@svc/core/kernel/index.ts';
import { VARIABLE } from '../answers/record.ts';
import { ledgersEnv } from './books.ts';
import { ENTRY, NODE_FLAGS } from './entry.ts';
import { endWithUs } from './watch.ts';

export { ENTRY, NODE_FLAGS } from './entry.ts';

export interface GatewayOptions {
  readonly database_url: string;
  /** Text of the providers file; absent: only the committed catalog. */
  readonly providers?: string;
  /**
   * Directory of journals and key ring; gateways with the same directory share a key ring. Absent: a temporary one
   * for this process.
   */
  readonly data_dir?: string;
  readonly name?: string;
  readonly port?: number;
  /** Further environment variables: provider keys, SVC_* settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than gateway/main.ts. */
  readonly entry?: string;
  /** Further flags of `node`. */
  readonly flags?: readonly string[];
  /** Put before `node`, e.g. `['taskset', '-c', '0']`. */
  readonly prefix?: readonly string[];
}

export interface GatewayProcess {
  readonly base_url: string;
  readonly port: number;
  readonly pid: number;
  readonly data_dir: string;
  /** Sends SIGTERM; resolves with the exit code when the process has drained and ended. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<number | null>;
  /** The last output lines, for the messages of failed tests. */
  output(): string;
}

/** Makes a gateway record its answers, for the check in test/answers. */
export const RECORDER = new URL('../answers/preload.ts', import.meta.url).pathname;

/** A new data directory for one test, in the system's temporary folder. */
export function freshDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'svc-gateway-'));
}

/**
 * Resolves with the answer once `url` answers 200. @throws Error after `timeout_ms` or when `ended` returns a reason.
 */
export async function untilReady(
  url: string,
  ended: () => string | null,
  timeout_ms = 90_000,
): Promise<void> {
  const deadline = performance.now() + timeout_ms;
  let last = 'no answer';
  while (performance.now() < deadline) {
    const fault = ended();
    if (fault !== null) throw new Error(fault);
    try {
      const reply = await fetch(url, { signal: AbortSignal.timeout(2_000) });
      if (reply.status === 200) return;
      last = `${reply.status} ${(await reply.text()).slice(0, 400)}`;
    } catch (error) {
      last = (error as Error).message;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${url} is not ready: ${last}`);
}

/** Tests may send any number of requests; tests of the rate limit set these variables themselves. */
const UNLIMITED = { SVC_MANAGEMENT_RPM: '0', SVC_SCIM_RPM: '0', SVC_PUBLIC_RPM: '0' };

/** The environment of this process without the variables that would configure the product by accident. */
export function bareEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^SVC_(?!TOOLS_DIR$|[A-Z_]+_BIN$)/.test(name) && !/_API_KEY$|^NODE_OPTIONS$|^VITEST/.test(name),
    ),
  );
}

function collect(child: ChildProcess): () => string {
  let text = '';
  const onData = (piece: Buffer) => {
    text = (text + piece.toString()).slice(-16_384);
  };
  child.stdout?.on('data', onData);
  child.stderr?.on('data', onData);
  return () => text;
}

/** What a gateway with `options` is configured by; its folder and its providers file are written. */
export async function prepareGateway(options: GatewayOptions): Promise<{
  readonly data_dir: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}> {
  const data_dir = options.data_dir ?? freshDataDir();
  mkdirSync(data_dir, { recursive: true });
  const port = options.port ?? (await freePort());
  const name = options.name ?? `test-${port}`;
  const env: Record<string, string> = {
    SVC_DATABASE_URL: options.database_url,
    ...ledgersEnv(options.database_url),
    SVC_DATA_DIR: data_dir,
    SVC_PORT: String(port),
    SVC_METRICS_PORT: '0',
    SVC_LOG_LEVEL: 'warn',
    SVC_PROCESS_NAME: name,
    ...UNLIMITED,
    ...options.env,
  };
  if (options.providers !== undefined) {
    env['SVC_PROVIDERS_FILE'] = join(data_dir, `providers-${name}.yaml`);
    writeFileSync(env['SVC_PROVIDERS_FILE'], options.providers);
  }
  return { data_dir, port, env };
}

/** Starts a gateway and resolves when `/readyz` answers 200. @throws Error with its output when it ends first. */
export async function startGatewayProcess(options: GatewayOptions): Promise<GatewayProcess> {
  const { data_dir, port, env: settings } = await prepareGateway(options);
  const env = { ...bareEnv(), ...settings };
  const recorder = process.env[VARIABLE] === undefined ? [] : ['--import', RECORDER];
  const command = [
    ...(options.prefix ?? []),
    ...[process.execPath, ...NODE_FLAGS, ...recorder, ...(options.flags ?? [])],
    options.entry ?? ENTRY,
  ];
  const child = spawn(command[0] as string, command.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  let exit: string | null = null;
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code, signal) => {
      if (options.data_dir === undefined) rmSync(data_dir, { recursive: true, force: true });
      exit = `the gateway ended with ${code ?? signal}: ${output()}`;
      resolve(code);
    });
    child.once('error', (error) => {
      exit = `the gateway could not be started: ${error.message}`;
      resolve(null);
    });
  });
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  const base_url = `http://127.0.0.1:${port}`;
  try {
    await untilReady(`${base_url}/readyz`, () => exit);
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw new Error(`${(error as Error).message}\n${output()}`, { cause: error });
  }
  return {
    base_url,
    port,
    pid: child.pid as number,
    data_dir,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
    output,
  };
}

/**
 * The same gateway inside this process, for tests that move its clock; it supports neither `prefix` nor `entry`.
 * Ending it cuts off running calls.
 */
export async function startGatewayHere(
  options: GatewayOptions & { readonly formats?: Formats; readonly log?: Log },
): Promise<GatewayProcess> {
  const [{ startGateway }, { readConfig, silentLog }] = await Promise.all([
    import('@svc/gateway/start.ts'),
    import('@svc/core/kernel/index.ts'),
  ]);
  const { data_dir, port, env } = await prepareGateway({
    ...options,
    env: { SVC_DRAIN_SECONDS: '0', ...options.env },
  });
  // Provider keys are read from the environment at the time they are needed.
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (!name.startsWith('SVC_')) process.env[name] = value;
  }
  const gateway = await startGateway({
    config: readConfig(env),
    log: options.log ?? silentLog,
    ...(options.formats === undefined ? {} : { formats: options.formats }),
  });
  let end: (code: number | null) => void = () => {};
  const ended = new Promise<number | null>((done) => {
    end = done;
  });
  let stopped: Promise<number> | null = null;
  const stop = () => {
    stopped ??= gateway.stop().then(() => {
      if (options.data_dir === undefined) rmSync(data_dir, { recursive: true, force: true });
      end(0);
      return 0;
    });
    return stopped;
  };
  return {
    base_url: gateway.base_url,
    port,
    pid: process.pid,
    data_dir,
    stop,
    kill: async () => {
      await stop();
    },
    ended,
    output: () => '',
  };
}
