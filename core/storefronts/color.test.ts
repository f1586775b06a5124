// Whatever colour is chosen, what is shown in it can be read.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accentColors, contrastOf, TEXT_DARK, TEXT_LIGHT } from './color.ts';

const AA = 4.5;

test.each([
  ['#FFDD00', '#806e02', '#ffdd00'],
  ['#E11D48', '#d6023f', '#fd5f70'],
  ['#0B6E4F', '#0b6e4f', '#51a583'],
  ['#111111', '#111111', '#979797'],
  ['#FFFFFF', '#6c6c6c', '#ffffff'],
  ['#2B50D4', '#2b50d4', '#6b93fc'],
])('%s is shown as %s on light and %s on dark grounds', (chosen, accent_light, accent_dark) => {
  expect(accentColors(chosen)).toEqual({ accent_light, accent_dark });
});

test('contrast is that of WCAG: 21 between black and white, 1 of a colour with itself', () => {
  expect(contrastOf('#000000', '#ffffff')).toBeCloseTo(21, 10);
  expect(contrastOf('#0b6e4f', '#0b6e4f')).toBe(1);
  // The lightest grey that is enough on white, and the next one.
  expect(contrastOf('#767676', '#ffffff')).toBeGreaterThan(AA);
  expect(contrastOf('#777777', '#ffffff')).toBeLessThan(AA);
});

test('text in the accent colour and on it has the contrast of WCAG AA, for every colour', () => {
  const colors = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(colors, (chosen) => {
      const { accent_light, accent_dark } = accentColors(chosen);
      for (const ground of ['#ffffff', '#f7f7f9', TEXT_LIGHT])
        expect(contrastOf(accent_light, ground)).toBeGreaterThanOrEqual(AA);
      for (const ground of ['#14161a', '#0d0e11', TEXT_DARK])
        expect(contrastOf(accent_dark, ground)).toBeGreaterThanOrEqual(AA);
    }),
    { numRuns: 2_000 },
  );
});
