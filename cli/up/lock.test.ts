import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { dropLock, startOf, takeLock } from './lock.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-lock-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('whoever asks for a taken lock learns who has it, until it is released', () => {
  const path = join(dir, 'a.lock');
  expect(takeLock(path)).toBeNull();
  expect(takeLock(path)).toMatchObject({ pid: process.pid });
  dropLock(path);
  expect(takeLock(path)).toBeNull();
});

test('the lock of a process that has ended is taken over', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  const holder = { pid: child.pid, started: startOf(child.pid as number) };
  await new Promise((done) => child.once('exit', done));
  const path = join(dir, 'b.lock');
  writeFileSync(path, JSON.stringify(holder));
  expect(takeLock(path)).toBeNull();
});

test('a process that has the pid of the holder but another start is not the holder', () => {
  const path = join(dir, 'c.lock');
  writeFileSync(path, JSON.stringify({ pid: process.pid, started: '1' }));
  expect(takeLock(path)).toBeNull();
});

test('a lock file that was cut off is taken over', () => {
  const path = join(dir, 'd.lock');
  writeFileSync(path, '{"pid":');
  expect(takeLock(path)).toBeNull();
});
