import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@svc/core/kernel/index.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Input } from '../command.ts';
import { shownSettings } from '../shown-settings.ts';
import { writeUpFile } from '../up/up-file.ts';
import { command } from './config.ts';

const before = { ...process.env };
let data_dir: string;

beforeEach(() => {
  data_dir = mkdtempSync(join(tmpdir(), 'svc-config-'));
  for (const name of Object.keys(process.env)) if (/^SVC_/.test(name)) delete process.env[name];
  process.env['SVC_DATA_DIR'] = data_dir;
});
afterEach(() => {
  process.env = { ...before };
  rmSync(data_dir, { recursive: true });
});

const shown = async () => {
  const { json, text } = await command.run(new Input({}, []));
  return { ...(json as { of: string; settings: Record<string, unknown>; set_otherwise: string[] }), text };
};

test('config shows what runs, and what this shell sets otherwise; without it what this shell sets', async () => {
  process.env['SVC_MAX_CALLS'] = '7';
  process.env['SVC_REDIS_URL'] = 'redis://:hunter2@cache.example';
  const here = await shown();
  expect([here.of, here.settings['SVC_MAX_CALLS'], here.settings['SVC_PORT']]).toEqual(['shell', 7, 8080]);
  expect(here.text).toContain('SVC_REDIS_URL=(set, secret)');
  const running = readConfig({ SVC_DATA_DIR: data_dir, SVC_MAX_CALLS: '9', SVC_PORT: '8123' });
  writeUpFile(data_dir, {
    ...{ base_url: '', sandbox_key: '', live_key: '', org_id: '', project_id: '', database_url: '' },
    ...{ console_login: { email: '', password: '' }, processes: [], programs: [] },
    demo_in: { live_key: '', console_login: { email: '', password: '' } },
    settings: shownSettings(running),
  });
  const there = await shown();
  expect([there.of, there.settings['SVC_MAX_CALLS'], there.settings['SVC_PORT']]).toEqual([
    'running',
    9,
    8123,
  ]);
  expect(there.set_otherwise).toEqual(['SVC_REDIS_URL', 'SVC_MAX_CALLS']);
  expect(there.text).toMatch(/^! SVC_MAX_CALLS=9/m);
  expect(JSON.stringify([here, there])).not.toContain('hunter2');
});
