import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { endWithUs } from '../../support/watch.ts';

const MAIN = new URL('./main.ts', import.meta.url).pathname;
let child: ChildProcess | null = null;
const dir = mkdtempSync(join(tmpdir(), 'svc-sim-'));
afterEach(() => {
  child?.kill('SIGKILL');
  child = null;
  rmSync(dir, { recursive: true, force: true });
});

async function start(args: string[]): Promise<{ url: string; port: number; pid: number }> {
  child = spawn(process.execPath, [MAIN, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithUs(child.pid as number, once(child, 'exit'));
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line);
  throw new Error('the simulator said nothing');
}

test('the program prints its port, serves both wires, and its log survives kill -9 in mid-stream', async () => {
  const log = join(dir, 'served.ndjson');
  const { url, pid } = await start(['--log', log, '--key', 'k']);
  const ask = (path: string, text: string, stream: boolean) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({
        model: 'm',
        max_tokens: 99,
        stream,
        messages: [{ role: 'user', content: text }],
      }),
    });
  expect((await ask('/v1/chat/completions', 'mark=one', false)).status).toBe(200);
  expect((await ask('/v1/messages', 'mark=two', false)).status).toBe(200);
  const hanging = await ask('/v1/messages', 'mark=three sim: stall_after=2', true);
  const reader = hanging.body!.getReader();
  await reader.read();
  const gone = new Promise((resolve) => child!.once('exit', resolve));
  process.kill(pid, 'SIGKILL');
  await gone;
  await expect(
    reader
      .read()
      .then(() => reader.read())
      .then(() => reader.read()),
  ).rejects.toThrow();
  const lines = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ event, mark }) => `${event} ${mark}`)).toEqual([
    'begin one',
    'end one',
    'begin two',
    'end two',
    'begin three',
  ]);
  expect(lines[3]).toMatchObject({ finished: true, tokens_delivered: 16, family: 'anthropic' });
});

test('the program ends on SIGTERM even with streams open', async () => {
  const { url } = await start([]);
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    messages: [{ role: 'user', content: 'sim: stall_after=1' }],
  });
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer k' },
    body,
  });
  const reader = reply.body!.getReader();
  await reader.read();
  const gone = new Promise((resolve) => child!.once('exit', resolve));
  child!.kill('SIGTERM');
  expect(await gone).toBe(0);
  await reader.cancel().catch(() => {});
});
