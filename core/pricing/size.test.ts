import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inputTokensBound } from './index.ts';
import { addText, countText, emptyPrompt, textTokens } from './size.ts';

test('text is a third of its bytes, dense or non-Latin text two thirds, and each message 16 more', () => {
  expect(countText('the quick brown fox')).toBe(7);
  expect(countText('A'.repeat(30))).toBe(20);
  expect(countText('日本語 のテキスト です')).toBe(22);
  // Curly quotes and accents are Latin text.
  expect(countText('“C’est déjà l’été”, dit-elle — enfin.')).toBe(
    Math.ceil(Buffer.byteLength('“C’est déjà l’été”, dit-elle — enfin.') / 3),
  );
  const size = emptyPrompt();
  addText(size, 'hello wide world');
  size.messages = 2;
  expect(inputTokensBound(size)).toBe(6 + 32);
});

test('media are bounded by the rules of the price function', () => {
  const size = emptyPrompt();
  size.images = [{}, { detail: 'low' }, { detail: 'high' }];
  size.audio_seconds = 2.5;
  size.audio_bytes = 401;
  size.pdf_pages = 2;
  size.pdf_bytes = 101;
  expect(inputTokensBound(size)).toBe(1600 + 100 + 1600 + 100 + 2 + 6000 + 2);
});

test('counting is additive over texts and independent of how they are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
      const apart = emptyPrompt();
      for (const text of texts) addText(apart, text);
      const whole = emptyPrompt();
      addText(whole, texts.join(''));
      expect(apart).toEqual(whole);
      expect(apart.text_bytes).toBe(Buffer.byteLength(texts.join('')));
      expect(textTokens(apart) * 3).toBeGreaterThanOrEqual(apart.text_bytes);
    }),
  );
});

/** Bytes of white space, and of characters beyond Latin, by what Unicode says of each character. */
function counted(text: string) {
  const bytesOf = (some: readonly string[]) => some.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
  const characters = [...text];
  const code = (one: string) => one.codePointAt(0) as number;
  return {
    white_space_bytes: bytesOf(characters.filter((one) => ' \n\r\t'.includes(one))),
    non_latin_bytes: bytesOf(
      characters.filter((one) => code(one) >= 0x250 && (code(one) < 0x2000 || code(one) > 0x206f)),
    ),
  };
}

test('white space and what is beyond Latin are counted to the character', () => {
  const edges = [0x8, 0x9, 0xa, 0xb, 0xc, 0xd, 0xe, 0x1f, 0x20, 0x21, 0x7f, 0x80, 0xff, 0x24f, 0x250, 0x251];
  edges.push(0x7fe, 0x7ff, 0x800, 0x801, 0x1fff, 0x2000, 0x2001, 0x206e, 0x206f, 0x2070, 0xd7ff, 0xe000);
  edges.push(0xffff, 0x10000, 0x10ffff);
  const character = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: 0xd7ff }));
  const text = fc.array(character, { maxLength: 12 }).map((codes) => String.fromCodePoint(...codes));
  for (const edge of edges) {
    const size = emptyPrompt();
    addText(size, String.fromCodePoint(edge));
    expect(size, edge.toString(16)).toMatchObject(counted(String.fromCodePoint(edge)));
  }
  fc.assert(
    fc.property(text, (text) => {
      const size = emptyPrompt();
      addText(size, text);
      expect(size).toMatchObject(counted(text));
    }),
  );
});

test('text is dense with more than 30 % beyond Latin, or with less than 5 % white space', () => {
  const of = (white: number, beyond: number, latin: number) =>
    countText(' '.repeat(white) + 'ж'.repeat(beyond) + 'a'.repeat(latin));
  // 300 bytes: a third of them, or two thirds.
  expect([of(15, 0, 285), of(14, 0, 286)]).toEqual([100, 200]);
  expect([of(30, 45, 180), of(30, 46, 178)]).toEqual([100, 200]);
});
