// `make up` from start to stop as a script sees it: up.json, a first call, the same keys again, nothing left behind.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { endWithUs } from '../../test/support/watch.ts';
import { root } from '../installation.ts';
import { freePort } from '../tools/postgres.ts';
import { startOf } from './lock.ts';
import { readUpFile, type UpFile } from './up-file.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-up-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

interface Up {
  readonly output: () => string;
  /** Resolves at the line that begins with `words`; rejects when it ends without one. */
  line(words: string): Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  signal(signal: NodeJS.Signals): void;
}

function up(variables: Record<string, string>): Up {
  const child = spawn(process.execPath, ['cli/up/main.ts'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      SVC_DATA_DIR: dataDir,
      SVC_METRICS_PORT: '0',
      ...variables,
    },
  });
  let output = '';
  const waiting = new Map<string, () => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output += `${line}\n`;
      for (const [words, done] of waiting) if (line.startsWith(words)) done();
    });
  }
  const ended = new Promise<number | string | null>((done) =>
    child.once('close', (code, signal) => done(code ?? signal)),
  );
  endWithUs(child.pid as number, ended, 'INT');
  return {
    output: () => output,
    line: (words) =>
      Promise.race([
        new Promise<void>((done) => waiting.set(words, done)),
        ended.then((code) => {
          throw new Error(`ended with ${code} before "${words}":\n${output}`);
        }),
      ]),
    ended,
    signal: (signal) => void child.kill(signal),
  };
}

async function firstCall({ base_url, sandbox_key }: UpFile): Promise<number> {
  const answer = await fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.text();
  if (answer.status === 200) expect(body).toContain('Hello');
  return answer.status;
}

const running = (file: UpFile) =>
  file.processes.filter(({ pid }) => startOf(pid) !== null).map(({ name }) => name);

test('it comes up, answers a first call, stops whole, and comes up with the same keys', async () => {
  const port = String(await freePort());
  const first = up({ SVC_PORT: port });
  await first.line('Logs are in');
  const file = readUpFile(dataDir) as UpFile;
  expect(file).toMatchObject({
    base_url: `http://127.0.0.1:${port}`,
    org_id: expect.stringMatching(/^org_/),
    project_id: expect.stringMatching(/^prj_/),
    live_key: expect.stringMatching(/^svc-live-/),
    sandbox_key: expect.stringMatching(/^svc-test-/),
  });
  expect(running(file)).toEqual(['postgres', 'gateway']);
  for (const secret of ['up.json', 'demo.json']) expect(statSync(join(dataDir, secret)).mode & 0o077).toBe(0);
  expect(await firstCall(file)).toBe(200);

  const second = up({ SVC_PORT: port });
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain('It already runs');
  expect(await firstCall(file)).toBe(200);

  first.signal('SIGINT');
  expect(await first.ended).toBe(0);
  expect(running(file)).toEqual([]);
  expect(existsSync(join(dataDir, 'up.json'))).toBe(false);

  const again = up({ SVC_PORT: port });
  await again.line('Logs are in');
  const { live_key, sandbox_key, org_id } = readUpFile(dataDir) as UpFile;
  expect({ live_key, sandbox_key, org_id }).toEqual({
    live_key: file.live_key,
    sandbox_key: file.sandbox_key,
    org_id: file.org_id,
  });
  again.signal('SIGTERM');
  expect(await again.ended).toBe(0);
}, 120_000);

test('a port in use is said with the variable to change, and nothing stays behind', async () => {
  const { createServer } = await import('node:http');
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  const refused = up({ SVC_PORT: String(port) });
  expect(await refused.ended).toBe(1);
  server.close();
  expect(refused.output()).toContain(`Port ${port} is in use by process ${process.pid}`);
  expect(refused.output()).toContain('SVC_PORT=');
  expect(existsSync(join(dataDir, 'up.lock'))).toBe(false);
}, 60_000);

test('when the gateway dies, that is said and the rest is stopped', async () => {
  const started = up({ SVC_PORT: '0' });
  await started.line('Logs are in');
  const file = readUpFile(dataDir) as UpFile;
  process.kill(file.processes.find(({ name }) => name === 'gateway')?.pid as number, 'SIGKILL');
  expect(await started.ended).toBe(1);
  expect(started.output()).toContain('The gateway ended (signal SIGKILL)');
  expect(running(file)).toEqual([]);
}, 120_000);

test('what a killed start left running is ended by the next one', async () => {
  const killed = up({ SVC_PORT: '0' });
  await killed.line('Logs are in');
  const file = readUpFile(dataDir) as UpFile;
  killed.signal('SIGKILL');
  await killed.ended;
  const next = up({ SVC_PORT: '0' });
  await next.line('Logs are in');
  expect(running(file)).toEqual([]);
  expect(next.output()).toContain('cleanup');
  next.signal('SIGINT');
  expect(await next.ended).toBe(0);
}, 120_000);

test('a configuration fault is told before anything is started', async () => {
  const refused = up({ SVC_PROT: '8080' });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain('SVC_PROT: unknown setting');
  expect(readFileSync(join(dataDir, 'log/gateway.log'), 'utf8')).not.toContain('SVC_PROT');
});
