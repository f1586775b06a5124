import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { atFileEnd } from './ends.ts';
import { startEngine, toolPath, untilAnswer } from './engine.ts';
import { askHost, hostEngines } from './engines.ts';

const here = (name: string) => new URL(name, import.meta.url).href;

/** Runs `code` as a module in a new process; returns the process and the first line that it prints. */
async function runModule(code: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')) as [
    string,
  ];
  return { child, line };
}

async function untilGone(pid: number): Promise<void> {
  await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 10_000, interval: 20 }).toBe(false);
}

test('an engine ends with the process that started it, even when that is killed with -9', async () => {
  const { child, line } = await runModule(`
    import { startEngine } from ${JSON.stringify(here('engine.ts'))};
    console.log(startEngine('sleep', ['1000'], '/').pid);
    setInterval(() => {}, 1000);`);
  const pid = Number(line);
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  child.kill('SIGKILL');
  await untilGone(pid);
});

test('when an engine ends before it answers, its own output is reported', async () => {
  const engine = startEngine('sh', ['-c', 'echo the disk is full >&2; exit 3'], '/');
  const never = () => Promise.reject(new Error('no answer'));
  await expect(untilAnswer(engine, never)).rejects.toThrow('the disk is full');
});

test('a killed engine is gone although it ignores every request to end', async () => {
  const engine = startEngine('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1000; done'], '/');
  await untilAnswer(engine, async () => {
    if (!engine.output().includes('ready')) throw new Error('not yet');
  });
  await engine.kill();
  expect(engine.isRunning()).toBe(false);
});

test('a missing tool is an error that names the command to run', async () => {
  const before = { ...process.env };
  const empty = mkdtempSync(join(tmpdir(), 'svc-no-tools-'));
  Object.assign(process.env, { PATH: empty, SVC_TOOLS_DIR: empty });
  try {
    await expect(toolPath('etcd')).rejects.toThrow('make tools');
  } finally {
    process.env = before;
    rmSync(empty, { recursive: true });
  }
});

test('shared engines start when they are asked for, once, and stop in reverse order', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-engines-'));
  atFileEnd(async () => rmSync(dir, { recursive: true }));
  const log: string[] = [];
  const engine = (name: string) => async () => {
    log.push(`start ${name}`);
    return { access: { name }, stop: async () => void log.push(`stop ${name}`) };
  };
  const host = await hostEngines(dir, { one: engine('one'), two: engine('two'), three: engine('three') });
  const ask = (name: string) => askHost(host.socket, name);
  const answers = await Promise.all([ask('one'), ask('one')]);
  expect(answers).toEqual([{ name: 'one' }, { name: 'one' }]);
  await ask('two');
  await expect(ask('four')).rejects.toThrow('no shared engine four');
  await host.stop();
  expect(log).toEqual(['start one', 'start two', 'stop two', 'stop one']);
});
