import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Input } from '../command.ts';
import { toolNames } from '../tools/tools.ts';
import { command, judgeSpace } from './doctor.ts';

const before = { ...process.env };
let empty: string;

beforeEach(() => {
  empty = mkdtempSync(join(tmpdir(), 'svc-doctor-'));
  for (const name of Object.keys(process.env)) if (/^SVC_/.test(name)) delete process.env[name];
  Object.assign(process.env, { PATH: empty, SVC_TOOLS_DIR: empty, SVC_DATA_DIR: join(empty, 'data') });
});
afterEach(() => {
  process.env = { ...before };
  rmSync(empty, { recursive: true });
});

interface Finding {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

async function findings(): Promise<Map<string, Finding>> {
  const { json } = await command.run(new Input({}, []));
  return new Map((json as { findings: Finding[] }).findings.map((one) => [one.name, one]));
}

test('doctor tells of every tool where it is, or how to get it, and installs none', async () => {
  const found = await findings();
  for (const name of toolNames)
    expect(found.get(name)).toMatchObject({ state: 'note', detail: expect.stringContaining('make tools') });
  expect(readdirSync(empty)).toEqual([]);
});

test('a variable that names no program is a fault that doctor shows', async () => {
  process.env['SVC_HELM_BIN'] = join(empty, 'nothing');
  expect((await findings()).get('helm')).toMatchObject({
    state: 'missing',
    detail: expect.stringContaining('SVC_HELM_BIN'),
  });
});

test('doctor says how much space is left where the data is, and that it is too little', async () => {
  expect((await findings()).get('space')?.detail).toMatch(/^\d+ MB free for .*data/);
  expect(judgeSpace(900, '/data')).toEqual({
    name: 'space',
    state: 'missing',
    detail: '900 MB free for /data; at least 1024 are needed',
  });
  expect(judgeSpace(2_000, '/data').state).toBe('note');
  expect(judgeSpace(20_000, '/data').state).toBe('ok');
});
