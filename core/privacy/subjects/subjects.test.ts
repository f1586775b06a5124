// The hash under which end users are stored, and the digest of a receipt.

import { expect, test } from 'vitest';
import { hashOfEndUser, sha256Hex } from '../../kernel/index.ts';
import { digestOf, digestOfIds } from './receipt.ts';

test('the hash of an end user is the published vector', () => {
  expect(hashOfEndUser(Buffer.from('pepper-of-org'), 'user-42')).toBe(
    'ff1c8e919103e4fa558a64efc850e418b032f9583f23cf742c3756a76b183b44',
  );
});

test('two spellings of Unicode are one end user; case and blanks are not taken away', () => {
  const pepper = Buffer.alloc(32, 1);
  expect(hashOfEndUser(pepper, 'Zoe\u0308')).toBe(hashOfEndUser(pepper, 'Zo\u00eb'));
  const all = ['user-42', 'User-42', ' user-42', 'user-42 '].map((id) => hashOfEndUser(pepper, id));
  expect(new Set(all).size).toBe(4);
  expect(hashOfEndUser(Buffer.alloc(32, 2), 'user-42')).not.toBe(all[0]);
});

test('a digest is that of the sorted ids, each with a line feed, however they are paged', async () => {
  const ids = ['01B', '01A', '01C'];
  const expected = sha256Hex('01A\n01B\n01C\n');
  expect(digestOfIds(ids)).toBe(expected);
  expect(digestOfIds([...ids, '01A'])).toBe(expected);
  async function* pages() {
    yield ['01A'];
    yield ['01B', '01C'];
    yield [];
  }
  expect(await digestOf(pages())).toBe(expected);
  expect(digestOfIds([])).toBe(sha256Hex(''));
});
