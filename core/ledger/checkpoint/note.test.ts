import { expect, test } from 'vitest';
import { sha256 } from '../../kernel/index.ts';
import { noteSigner, openNote } from './note.ts';

const signer = noteSigner('svc-ledger', Buffer.alloc(32, 7));
const TEXT = 'svc-ledger\n3\nabc=\ncheckpoint 1\n';
const note = signer.sign(TEXT);

test('a note is read by the key that signed it', () => {
  expect(note.startsWith(`${TEXT}\n— svc-ledger `)).toBe(true);
  expect(openNote(note, signer.verifier_key)).toBe(TEXT);
});

test('the published example of the form is read', () => {
  // The example of Go's golang.org/x/mod/sumdb/note.
  const key = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const text = `If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n`;
  const signed = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;
  expect(openNote(signed, key)).toBe(text);
});

test.each([
  ['a changed text', note.replace('checkpoint 1', 'checkpoint 2'), 'one of them was changed'],
  ['another signer', noteSigner('svc-ledger', Buffer.alloc(32, 8)).sign(TEXT), 'not signed by the key'],
  ['no signature', TEXT, 'no empty line before its signatures'],
])('%s is refused', (_, signed, words) => {
  expect(() => openNote(signed, signer.verifier_key)).toThrow(words);
});

test('each letter of a signature counts, the last one too, whose last bits stand for nothing', () => {
  const end = note.lastIndexOf('=');
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const next = letters[letters.indexOf(note[end - 1]!) + 1];
  expect(() => openNote(`${note.slice(0, end - 1)}${next}=\n`, signer.verifier_key)).toThrow(
    'one of them was changed',
  );
});

test('among the signatures of others that of the key is found', () => {
  const others = [
    noteSigner('other-log', Buffer.alloc(32, 7)).sign(TEXT),
    noteSigner('svc-ledger', Buffer.alloc(32, 8)).sign(TEXT),
  ].map((signed) => signed.slice(TEXT.length + 1));
  const own = note.slice(TEXT.length + 1);
  expect(openNote(`${TEXT}\n${others.join('')}${own}`, signer.verifier_key)).toBe(TEXT);
});

test('a signature is one where its line has nothing else, behind the empty line', () => {
  const line = note.slice(TEXT.length + 1, -1);
  for (const signed of [`${TEXT}\n ${line}\n`, `${TEXT}\n${line} \n`, `${line}\n\n${TEXT}`])
    expect(() => openNote(signed, signer.verifier_key)).toThrow('not signed by the key');
  expect(() => openNote(note.replace('— svc-ledger ', '— svc-other '), signer.verifier_key)).toThrow(
    'not signed by the key',
  );
});

test('a text of one empty line can be signed too', () => {
  expect(openNote(signer.sign('\n'), signer.verifier_key)).toBe('\n');
});

test('spaces around a verifier key, as files end with, are passed over', () => {
  expect(openNote(note, ` ${signer.verifier_key}\n`)).toBe(TEXT);
});

const [name, id, encoded] = signer.verifier_key.split(/\+/) as [string, string, string];
/** A verifier key whose id is right, of `bytes`: the kind of signature and the public key. */
const keyOf = (bytes: Buffer) => {
  const hash = sha256(Buffer.concat([Buffer.from(`${name}\n\x01`), bytes.subarray(1)]));
  return `${name}+${hash.toString('hex', 0, 4)}+${bytes.toString('base64')}`;
};

test.each([
  ['nothing', ''],
  ['a name alone', 'svc-ledger'],
  ['a key of no length', 'svc-ledger+00000000+AQ=='],
  ['a name with a space', `svc ledger+${id}+${encoded}`],
  ['more behind the key', `${signer.verifier_key} more`],
  ['another kind of signature', keyOf(Buffer.concat([Buffer.from([2]), Buffer.alloc(32, 9)]))],
  ['a key that is a byte too long', keyOf(Buffer.concat([Buffer.from([1]), Buffer.alloc(33, 9)]))],
])('%s is no verifier key', (_, key) => {
  expect(() => openNote(note, key)).toThrow('is no verifier key');
});

test('a verifier key with the id of another is damaged', () => {
  expect(() => openNote(note, `${name}+00000000+${encoded}`)).toThrow('is damaged');
});
