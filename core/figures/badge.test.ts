// Badges: whatever is written on them, they are well-formed XML of a few shapes, and people can read them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { badge, shortCount, unknownBadge, xmlText } from './badge.ts';

/** Of text on what is behind it. */
const CONTRAST = 4.5;

/** Everything between `<` and `>`, and everything else. */
function partsOf(svg: string) {
  return {
    tags: [...svg.matchAll(/<([^<>]*)>/g)].map(([, tag]) => tag as string),
    text: svg.replace(/<[^<>]*>/g, ''),
  };
}

test('whatever the label, a badge has the tags of any other, and no character that XML or readers stumble over', () => {
  const shape = (svg: string) => partsOf(svg).tags.map((tag) => tag.split(/[ /]/).find(Boolean));
  const plain = shape(badge({ label: 'a', tokens: 1 }));
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (label) => {
      const svg = badge({ label, tokens: 1 });
      expect(shape(svg)).toEqual(plain);
      const { text, tags } = partsOf(svg);
      for (const part of [text, ...tags]) expect(part).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/);
      // Attributes are all in quotes, and none is an event or a link.
      for (const tag of tags) expect(tag.replace(/ ?[a-zA-Z:-]+="[^"]*"/g, '')).toMatch(/^\/?[a-zA-Z]+\/?$/);
      expect(svg).not.toMatch(
        /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/,
      );
      expect(svg.isWellFormed()).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('text in quotes and in tags is escaped', () => {
  expect(xmlText(`<b> & "c" 'd'\u0000`)).toBe('&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;');
});

test.for([
  [0, '0'],
  [999, '999'],
  [1_000, '1K'],
  [1_200, '1.2K'],
  [99_949, '99.9K'],
  [99_950, '100K'],
  [999_499, '999K'],
  [999_949, '1000K'],
  [999_950, '1M'],
  [1_200_000, '1.2M'],
  [41_900_311, '41.9M'],
  [1_500_000_000, '1.5B'],
  [9_007_199_254_740_991, '9007T'],
] as const)('%d tokens read %s', ([count, text]) => {
  expect(shortCount(count)).toBe(text);
});

test('text is read on whichever color well enough', () => {
  const luminance = (color: string) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => {
      const part = color.length === 3 ? `${color[at]}${color[at]}` : color.slice(at * 2, at * 2 + 2);
      const c = Number.parseInt(part, 16) / 255;
      return sum + weight * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (value) => {
      const color = value.toString(16).padStart(6, '0');
      const svg = badge({ label: 'a', tokens: 1, color });
      const fills = [...svg.matchAll(/fill="#([0-9a-f]+)"/g)].map(([, fill]) => fill as string);
      const [below, text] = fills.slice(-2).map(luminance) as [number, number];
      const [light, dark] = below > text ? [below, text] : [text, below];
      expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(CONTRAST);
    }),
  );
});

test('a long label is cut', () => {
  const svg = badge({ label: 'é'.repeat(64), tokens: 1 });
  expect(svg).toContain(`${'é'.repeat(39)}…`);
  expect(unknownBadge()).toContain('unknown');
});
