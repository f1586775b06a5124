// Gateways in processes that serve the gateways of many test files, one after another: a fresh process takes a second
// of processor time to load the product, and runs code that is not compiled yet. For tests that neither kill it nor
// measure its process; those take `startGatewayProcess`.
import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { VARIABLE } from '../answers/record.ts';
import { NODE_FLAGS } from './entry.ts';
import {
  bareEnv,
  type GatewayOptions,
  type GatewayProcess,
  prepareGateway,
  RECORDER,
  startGatewayProcess,
} from './gateway.ts';
import type { Command, Report } from './programs/gateway-host.ts';
import { type KeyOptions, type Provisioned, provision } from './provision.ts';
import { endWithUs } from './watch.ts';

const PROGRAM = new URL('./programs/gateway-host.ts', import.meta.url).pathname;
/** What most files with several gateways have of them at once. */
const HOSTS_MAX = 3;
/** What a gateway said last, in characters, as of one with a process of its own. */
const KEPT = 16_384;

interface Host {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  /** Whether a gateway runs in it. */
  taken: boolean;
  onReport: (report: Report) => void;
}

declare global {
  /** Of this process; test files that share it find them here. */
  var gateway_hosts: Set<Host> | undefined;
}

function startHost(): Host {
  const child = fork(PROGRAM, {
    execArgv: [...NODE_FLAGS, '--import', RECORDER],
    env: bareEnv(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  const host: Host = { child, ended, taken: false, onReport: () => {} };
  child.on('message', (report: Report) => host.onReport(report));
  void ended.then(() => globalThis.gateway_hosts?.delete(host));
  // The process of the tests ends without it, and it with that process.
  child.unref();
  child.channel?.unref();
  (child.stderr as unknown as { unref(): void }).unref();
  return host;
}

/** A process without a gateway, which is the caller's now; null where all have one. */
function takeHost(): Host | null {
  globalThis.gateway_hosts ??= new Set();
  const hosts = globalThis.gateway_hosts;
  let free = [...hosts].find(({ taken }) => !taken);
  if (free === undefined && hosts.size < HOSTS_MAX) {
    free = startHost();
    hosts.add(free);
  }
  if (free !== undefined) free.taken = true;
  return free ?? null;
}

/** Sends `command` and resolves with the base address of what it started. @throws Error with the host's own words. */
function tell(host: Host, command: Command, onLine: (text: string) => void): Promise<string> {
  return new Promise((done, fail) => {
    const onEnd = (code: number | null) => fail(new Error(`the gateway ended with ${code}`));
    void host.ended.then(onEnd);
    host.onReport = (report) => {
      if ('line' in report) onLine(report.line);
      else if ('failed' in report) fail(new Error(report.failed));
      else done('started' in report ? report.started : '');
    };
    host.child.send(command);
  });
}

/**
 * Starts a gateway in a process that test files share, or in one of its own where the file has taken all of them or
 * has variables for Node. What a shared one has of `kill` is a stop that waits for no call.
 * @throws Error with its output when it does not start.
 */
export async function startSharedGateway(
  options: Omit<GatewayOptions, 'entry' | 'prefix'>,
): Promise<GatewayProcess> {
  // Node reads its own variables when it starts.
  const own = Object.keys(options.env ?? {}).some((name) => name.startsWith('NODE_'));
  const host = own ? null : takeHost();
  if (host === null) return startGatewayProcess(options);
  const { data_dir, port, env } = await prepareGateway({
    ...options,
    env: { SVC_DRAIN_SECONDS: '0', ...options.env },
  });
  let text = '';
  const onLine = (piece: string) => {
    text = (text + piece).slice(-KEPT);
  };
  const onData = (piece: Buffer) => onLine(piece.toString());
  host.child.stderr?.on('data', onData);
  const answers = process.env[VARIABLE];
  const start = { ...env, ...(answers === undefined ? {} : { [VARIABLE]: answers }) };
  let end: (code: number | null) => void = () => {};
  const ended = new Promise<number | null>((done) => {
    end = done;
  });
  const release = (code: number | null) => {
    host.child.stderr?.off('data', onData);
    if (options.data_dir === undefined) rmSync(data_dir, { recursive: true, force: true });
    host.taken = false;
    end(code);
  };
  void host.ended.then(release);
  let base_url: string;
  try {
    base_url = await tell(host, { start }, onLine);
  } catch (error) {
    release(null);
    throw new Error(`${(error as Error).message}\n${text}`, { cause: error });
  }
  let stopped: Promise<number | null> | null = null;
  const stop = () => {
    stopped ??= tell(host, { stop: true }, onLine).then(() => {
      release(0);
      return 0;
    });
    return stopped;
  };
  return {
    ...{ base_url, port, pid: host.child.pid as number, data_dir, ended },
    stop,
    kill: async () => {
      await stop();
    },
    output: () => text,
  };
}

export interface TestGateway extends GatewayProcess, Provisioned {
  readonly database_url: string;
}

/** An organization with keys on `database_url`, and a shared gateway that serves it. */
export async function startTestGateway(
  options: GatewayOptions & {
    readonly live_micro_usd?: number;
    readonly keys?: readonly KeyOptions[];
    readonly project_monthly_micro?: number;
  },
): Promise<TestGateway> {
  const { live_micro_usd = 100_000_000, keys, project_monthly_micro, ...gateway } = options;
  const provisioned = await provision({
    database_url: options.database_url,
    live_micro_usd,
    ...(keys === undefined ? {} : { keys }),
    ...(project_monthly_micro === undefined ? {} : { project_monthly_micro }),
  });
  const process = await startSharedGateway(gateway);
  return { ...provisioned, ...process, database_url: options.database_url };
}
