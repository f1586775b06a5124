import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashCode, newCode, plainCode } from './typed-code.ts';

const key = Buffer.alloc(32, 1);

test('a code is four groups of four letters that cannot be confused, after what it is for', () => {
  for (const prefix of ['GIFT', 'CR', 'INV'] as const)
    expect(newCode(prefix)).toMatch(new RegExp(`^${prefix}(-[0-9A-HJKMNP-TV-Z]{4}){4}$`));
});

test('however a person types a code, it is the same code', () => {
  const code = 'CR-01AB-1C0D-10EF-GH01';
  for (const typed of [
    'cr-01ab-1c0d-10ef-gh01',
    'CR 01AB 1C0D 10EF GH01',
    'cr01ab1c0d10efgh01',
    ' CR–O1AB—lC0D-iOEF-GHoL ',
    'ＣＲ-01AB-1C0D-10EF-GH01',
  ])
    expect(hashCode(key, 'credit code', typed)).toEqual(hashCode(key, 'credit code', code));
});

test('typed in any mixture of the ways that are forgiven it is the same, and another code is another', () => {
  const ways: Record<string, readonly string[]> = {
    0: ['0', 'O', 'o'],
    1: ['1', 'I', 'i', 'L', 'l'],
    '-': ['-', '', ' ', '–'],
  };
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat(9)), (draws) => {
      const code = newCode('GIFT');
      const typed = [...code].map((letter) => {
        const all = ways[letter] ?? [letter, letter.toLowerCase()];
        return all[(draws.next().value as number) % all.length];
      });
      expect(plainCode(typed.join(''))).toBe(plainCode(code));
      expect(plainCode(newCode('GIFT'))).not.toBe(plainCode(code));
    }),
  );
});

test('without the key ring the stored form of a code cannot be made', () => {
  expect(hashCode(Buffer.alloc(32, 2), 'credit code', 'CR-0000-0000-0000-0000')).not.toEqual(
    hashCode(key, 'credit code', 'CR-0000-0000-0000-0000'),
  );
});

test('a code for one thing is none for another', () => {
  const code = newCode('INV');
  expect(hashCode(key, 'invite code', code)).not.toEqual(hashCode(key, 'credit code', code));
});
