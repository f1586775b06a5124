import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRootKey, rootKeys } from './keyring.ts';

test('a key ring is created once, readable by its owner alone, and loads as it was created', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-ring-'));
  const path = join(dir, 'deep', 'keyring.json');
  const key = loadRootKey(path);
  const [{ bytes }] = rootKeys(key);
  expect(bytes).toHaveLength(32);
  expect(rootKeys(loadRootKey(path))).toEqual(rootKeys(key));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(dir, 'deep'))).toEqual(['keyring.json']);
});

test('a damaged key ring is refused, never replaced', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-ring-')), 'keyring.json');
  for (const text of ['', '{}', '[]', '{"version":1,"current":"a","keys":{"a":"c2hvcnQ="}}']) {
    writeFileSync(path, text);
    expect(() => loadRootKey(path)).toThrow();
  }
});
