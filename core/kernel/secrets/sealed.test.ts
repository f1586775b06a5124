import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seal } from '../crypto.ts';
import { secureBytes } from '../random.ts';
import {
  addRootKey,
  checkpointSeed,
  deriveKey,
  deriveKeys,
  loadRootKey,
  promoteRootKey,
  RootKeys,
  removeRootKey,
  rootKeys,
} from './keyring.ts';
import {
  headerOf,
  isSealedUnderCurrent,
  openColumn,
  type SealedColumnName,
  sealColumn,
  sealedColumns,
} from './sealed.ts';

const ringFile = () => join(mkdtempSync(join(tmpdir(), 'svc-ring-')), 'keyring.json');
const secret = Buffer.from('a secret of somebody');
const columns = Object.keys(sealedColumns) as SealedColumnName[];

/** A ring in a file, and what its keys are after each change as a new process reads them. */
function newRing() {
  const path = ringFile();
  loadRootKey(path);
  return { path, read: () => new RootKeys(path) };
}

test('a value says under which key it is, and opens at its own place alone', () => {
  const key = Buffer.alloc(32, 5);
  for (const column of columns) {
    const row = sealedColumns[column].key.map((_, at) => (at === 1 ? Buffer.from('b') : `a${at}`));
    const sealed = sealColumn(key, column, row, secret);
    expect(sealed.subarray(0, 8)).toEqual(headerOf(rootKeys(key)[0]));
    expect(openColumn(key, column, row, sealed)).toEqual(secret);
    const others = columns.filter((name) => name !== column && sealedColumns[name].key.length === row.length);
    for (const other of others)
      expect(() => openColumn(key, other, row, sealed)).toThrow('no key of the ring');
    expect(() => openColumn(key, column, ['x', ...row.slice(1)], sealed)).toThrow('no key of the ring');
  }
});

test('what earlier releases sealed opens, whichever key of the ring it was sealed under', () => {
  const { path, read } = newRing();
  const first = rootKeys(read())[0].bytes;
  const old = seal(deriveKey(first, 'byok secret'), secret, 'byok_key byok_1 secret');
  promoteRootKey(path, addRootKey(path, { leaked: false }));
  expect(openColumn(read(), 'byok_key.secret_sealed', ['byok_1'], old)).toEqual(secret);
  expect(isSealedUnderCurrent(read(), old)).toBe(false);
});

test('an old value that happens to begin as new ones do opens all the same', () => {
  const key = Buffer.alloc(32, 5);
  let old: Buffer;
  do old = seal(deriveKey(key, 'totp'), secret, 'totp usr_1');
  while (old[0] !== 1);
  expect(openColumn(key, 'person.totp_secret', ['usr_1'], old)).toEqual(secret);
});

test('a changed byte anywhere, or another ring, opens nothing and says the place and no secret', () => {
  const key = Buffer.alloc(32, 5);
  const sealed = sealColumn(key, 'mail.sealed', ['mail_1'], secret);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(() => openColumn(key, 'mail.sealed', ['mail_1'], changed)).toThrow(/mail\.sealed of mail_1$/);
  }
  for (const length of [0, 1, 7, 8, 20, 35])
    expect(() => openColumn(key, 'mail.sealed', ['mail_1'], sealed.subarray(0, length))).toThrow('no key');
  expect(() => openColumn(Buffer.alloc(32, 6), 'mail.sealed', ['mail_1'], sealed)).toThrow('no key');
});

test('an added key opens and does not seal; a promoted one seals and the former one opens; a removed one is gone', () => {
  const { path, read } = newRing();
  const [first] = rootKeys(read());
  const before = sealColumn(read(), 'mail.sealed', ['mail_1'], secret);
  const name = addRootKey(path, { leaked: false });
  expect(rootKeys(read())[0].name).toBe(first.name);
  promoteRootKey(path, name);
  const ring = read();
  expect(rootKeys(ring).map((key) => key.name)).toEqual([name, first.name]);
  const after = sealColumn(ring, 'mail.sealed', ['mail_1'], secret);
  expect([before, after].map((sealed) => isSealedUnderCurrent(ring, sealed))).toEqual([false, true]);
  for (const sealed of [before, after])
    expect(openColumn(ring, 'mail.sealed', ['mail_1'], sealed)).toEqual(secret);
  expect(() => removeRootKey(path, name)).toThrow('is the current key');
  removeRootKey(path, first.name);
  expect(() => openColumn(read(), 'mail.sealed', ['mail_1'], before)).toThrow('no key of the ring opens');
  expect(() => promoteRootKey(path, first.name)).toThrow('has no key');
});

test('a running program opens what was sealed under a key that came into the file after it started', async () => {
  const { path, read } = newRing();
  const running = loadRootKey(path);
  const name = addRootKey(path, { leaked: false });
  promoteRootKey(path, name);
  const sealed = sealColumn(read(), 'mail.sealed', ['mail_1'], secret);
  // It looks at the file again for an unknown key, though not in every millisecond.
  await expect.poll(() => openColumn(running, 'mail.sealed', ['mail_1'], sealed)).toEqual(secret);
  expect(rootKeys(running)[0].name).toBe(name);
});

test('a running program keeps the keys that it has while the file is damaged or away', async () => {
  const { path } = newRing();
  const running = loadRootKey(path);
  const sealed = sealColumn(running, 'mail.sealed', ['mail_1'], secret);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.slice(0, 40));
  const unknown = Buffer.concat([Buffer.of(1), secureBytes(60)]);
  await expect
    .poll(() => {
      expect(() => openColumn(running, 'mail.sealed', ['mail_1'], unknown)).toThrow('no key');
      return openColumn(running, 'mail.sealed', ['mail_1'], sealed);
    })
    .toEqual(secret);
  expect(() => addRootKey(path, { leaked: false })).toThrow();
});

test('what was told to others stays when the key changes and when the former one goes; the rest changes', () => {
  const { path, read } = newRing();
  const seen = () => [
    deriveKey(read(), 'delivery numbers'),
    deriveKey(read(), 'eval call keys'),
    checkpointSeed(read()),
  ];
  const before = seen();
  const csrf = deriveKey(read(), 'csrf');
  const [first] = rootKeys(read());
  promoteRootKey(path, addRootKey(path, { leaked: false }));
  expect(seen()).toEqual(before);
  expect(deriveKey(read(), 'csrf')).not.toEqual(csrf);
  expect(deriveKeys(read(), 'csrf')).toContainEqual(csrf);
  removeRootKey(path, first.name);
  expect(seen()).toEqual(before);
  expect(deriveKeys(read(), 'csrf')).not.toContainEqual(csrf);
});

test('after a leak the signature of the ledger is another one at once, and the numbers of deliveries stay', () => {
  const { path, read } = newRing();
  const [numbers, seed] = [deriveKey(read(), 'delivery numbers'), checkpointSeed(read())];
  promoteRootKey(path, addRootKey(path, { leaked: true }));
  expect(deriveKey(read(), 'delivery numbers')).toEqual(numbers);
  expect(checkpointSeed(read())).not.toEqual(seed);
  const changed = checkpointSeed(read());
  promoteRootKey(path, addRootKey(path, { leaked: false }));
  expect(checkpointSeed(read())).toEqual(changed);
});
