// The programs of the gateway and of the console as a container runs them: a signal ends them, however early it comes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { availableParallelism, getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../test/support/database.ts';
import { atFileEnd } from '../test/support/ends.ts';
import { freshDataDir, NODE_FLAGS, startGatewayProcess } from '../test/support/gateway.ts';
import { endWithUs } from '../test/support/watch.ts';

const cases = [
  ['gateway/main.ts', 'SIGTERM'],
  ['admin-graphql/main.ts', 'SIGINT'],
] as const;

/** A database that takes connections and never says a word: a start that asks it does not come to its end. */
async function silentDatabase(): Promise<{ url: string; asked: Promise<unknown> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  const asked = once(server, 'connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `postgres://svc@127.0.0.1:${port}/svc`, asked };
}

test.each(cases)(
  '%s ends with code 0 on %s while it still waits for its database',
  async (entry, signal) => {
    const database = await silentDatabase();
    const data_dir = freshDataDir();
    atFileEnd(async () => rmSync(data_dir, { recursive: true, force: true }));
    const child = spawn(
      process.execPath,
      [...NODE_FLAGS, fileURLToPath(new URL(`../${entry}`, import.meta.url))],
      {
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          SVC_DATABASE_URL: database.url,
          SVC_DATA_DIR: data_dir,
          SVC_METRICS_PORT: '0',
        },
        stdio: 'ignore',
      },
    );
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    endWithUs(
      child.pid as number,
      ended.then(([code]) => code),
    );
    // A program that cannot even be loaded ends before it asks; its code then says so.
    await Promise.race([database.asked, ended]);
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
  },
  60_000,
);

test('the gateway puts its thread pool behind the event loop, and has as many threads of the engine as processors', async () => {
  const gateway = await startGatewayProcess({ database_url: await createTestDatabase() });
  const threads = readdirSync(`/proc/${gateway.pid}/task`).map((id) => ({
    name: readFileSync(`/proc/${gateway.pid}/task/${id}/comm`, 'utf8').trim(),
    behind: getPriority(Number(id)) - getPriority(gateway.pid),
  }));
  const named = (name: string) => threads.filter((thread) => thread.name === name);
  expect(named('V8Worker').length).toBeLessThanOrEqual(availableParallelism());
  expect(new Set(named('libuv-worker').map(({ behind }) => behind))).toEqual(new Set([10]));
  expect(new Set(named('V8Worker').map(({ behind }) => behind))).toEqual(new Set([0]));
  expect(named('MainThread').map(({ behind }) => behind)).toEqual([0]);
  await gateway.stop();
}, 60_000);
