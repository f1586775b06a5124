import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
type Theme = 0 | 1;

/** Value of a token in the light (0) or dark (1) theme. */
function token(name: string, theme: Theme): string {
  const match = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(css);
  if (match === null) throw new Error(`no colour --${name}`);
  return match[theme + 1] as string;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
}

/** Contrast of WCAG 2: 1 to 21. */
function contrast(a: string, b: string): number {
  const [light, dark] = [a, b]
    .map(channels)
    .map(([r = 0, g = 0, blue = 0]) => 0.2126 * r + 0.7152 * g + 0.0722 * blue)
    .sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Distance in OKLab. */
function distance(a: string, b: string): number {
  const [x, y] = [a, b].map(channels).map(([r = 0, g = 0, blue = 0]) => {
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * blue);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * blue);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * blue);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  }) as [number[], number[]];
  return Math.hypot(...x.map((value, i) => value - (y[i] ?? 0)));
}

const themes = [
  ['light', 0],
  ['dark', 1],
] as const;

test.each(themes)(
  'every text of the %s theme has the contrast of AA on every ground it stands on',
  (_, theme) => {
    const grounds = ['surface', 'bg', 'sunken', 'hover'];
    const pairs = [
      ...['text', 'text-2', 'text-3', 'accent-text', 'bad'].flatMap((ink) =>
        grounds.map((ground) => [ink, ground]),
      ),
      ['on-accent', 'accent'],
      ['on-accent', 'accent-hover'],
      ['accent-text', 'accent-soft'],
      ...['ok', 'warn', 'bad', 'mute', 'sandbox'].map((tone) => [tone, `${tone}-soft`]),
      ['surface', 'bad'],
      ['surface', 'sandbox'],
    ] as [string, string][];
    for (const [ink, ground] of pairs) {
      expect(contrast(token(ink, theme), token(ground, theme)), `${ink} on ${ground}`).toBeGreaterThanOrEqual(
        4.5,
      );
    }
  },
);

test.each(themes)('borders of fields and shapes of the %s theme can be seen', (_, theme) => {
  for (const name of ['line-strong', 'accent', 'c1', 'c2', 'c3', 'c4', 'c5']) {
    expect(contrast(token(name, theme), token('surface', theme)), name).toBeGreaterThanOrEqual(3);
  }
});

test.each(themes)('chart colours of the %s theme stay apart', (_, theme) => {
  const colours = ['c1', 'c2', 'c3', 'c4', 'c5'];
  for (const [i, a] of colours.entries()) {
    for (const b of colours.slice(i + 1)) {
      const apart = distance(token(a, theme), token(b, theme));
      expect(apart, `${a} and ${b}`).toBeGreaterThanOrEqual(theme === 0 ? 0.13 : 0.11);
    }
  }
});
