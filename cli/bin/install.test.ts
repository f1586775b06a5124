// The decision of the installer whether anything is to be done, in a folder of its own.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const lock = JSON.stringify({
  packages: {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0', dev: true },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
});
let top: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'svc-install-'));
  mkdirSync(join(top, 'cli/bin'), { recursive: true });
  mkdirSync(join(top, 'node_modules'));
  cpSync(fileURLToPath(new URL('./install.mjs', import.meta.url)), join(top, 'cli/bin/install.mjs'));
  writeFileSync(join(top, 'package-lock.json'), lock);
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

/** Runs the installer where there is no npm, so that it fails exactly when it wants to install. */
function wantsToInstall(level: string): boolean {
  const run = spawnSync(process.execPath, ['cli/bin/install.mjs', level], {
    cwd: top,
    env: { PATH: '' },
    encoding: 'utf8',
  });
  if (run.status !== 0) expect(run.stderr).toContain('npm is needed');
  return run.status !== 0;
}

function stamp(level: string, text = lock): void {
  const hash = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(top, 'node_modules/.svc-install.json'), JSON.stringify({ lock: hash, level }));
}

function record(packages: Record<string, { version: string }>): void {
  writeFileSync(join(top, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
}

test('an empty tree is installed', () => {
  expect(wantsToInstall('run')).toBe(true);
});

test('a full installation also serves a smaller level, not the other way round', () => {
  stamp('all');
  expect(wantsToInstall('run')).toBe(false);
  stamp('run');
  expect(wantsToInstall('run')).toBe(false);
  expect(wantsToInstall('all')).toBe(true);
});

test('each level serves those before it', () => {
  stamp('programs');
  expect(wantsToInstall('run')).toBe(false);
  expect(wantsToInstall('programs')).toBe(false);
  expect(wantsToInstall('all')).toBe(true);
  stamp('run');
  expect(wantsToInstall('programs')).toBe(true);
});

test('another lock file makes the tree stale', () => {
  stamp('all', `${lock} `);
  expect(wantsToInstall('run')).toBe(true);
});

test('a tree of plain npm counts as full when every package is there at its version', () => {
  record({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0' } });
  expect(wantsToInstall('all')).toBe(false);
  record({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.9.0' } });
  expect(wantsToInstall('all')).toBe(true);
  record({ 'node_modules/a': { version: '1.0.0' } });
  expect(wantsToInstall('all')).toBe(true);
});
