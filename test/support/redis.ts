// A real server of the Redis protocol for a test: Valkey, or Redis where the machine has it. It writes nothing to
// disk, so a restarted server has lost all its data.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { type Engine, startEngine, toolPath, untilAnswer } from './engine.ts';

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** What it was started with beside the usual. */
  readonly args: readonly string[];
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts a server on the same port, without the data; a running one is killed first. */
  restart(): Promise<void>;
  /** Stops the server with SIGSTOP: its connections stay open and nothing is answered. */
  pause(): void;
  /** Continues a server that `pause` stopped. */
  resume(): void;
  stop(): Promise<void>;
}

/** Resolves when the server on `port` answers PING, or asks for a password. */
function ping(port: number): Promise<void> {
  return new Promise((done, fail) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.setTimeout(2_000, () => socket.destroy(new Error('no reply to PING')));
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('error', fail);
    socket.on('data', (reply) => {
      socket.destroy();
      if (/^(\+PONG|-NOAUTH)/.test(reply.toString())) done();
      else fail(new Error(`PING answered ${reply}`));
    });
  });
}

interface RedisOptions {
  readonly port?: number;
  readonly args?: readonly string[];
  /** Lines of a configuration file, which a Sentinel writes to. */
  readonly config?: readonly string[];
}

/** Starts a server; the caller stops it, for instance with `atFileEnd(() => redis.stop())`. */
export async function startRedis({ args = [], config, ...options }: RedisOptions = {}): Promise<TestRedis> {
  const program = await toolPath('valkey-server');
  const port = options.port ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), 'svc-redis-'));
  const file = join(dir, 'server.conf');
  if (config !== undefined) writeFileSync(file, config.map((line) => `${line}\n`).join(''));
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, ...args];
  const unsaved = ['--save', '', '--appendonly', 'no'];
  const start = async (): Promise<Engine> => {
    const engine = startEngine(
      program,
      config === undefined ? [...settings, ...unsaved] : [file, ...settings],
      dir,
    );
    await untilAnswer(engine, () => ping(port));
    return engine;
  };
  let engine = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    ...{ port, args },
    kill: () => engine.kill(),
    async restart() {
      await engine.kill();
      engine = await start();
    },
    pause: () => void process.kill(engine.pid, 'SIGSTOP'),
    resume: () => void process.kill(engine.pid, 'SIGCONT'),
    async stop() {
      // A paused server would not receive a request to end, and there is nothing to save.
      await engine.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
