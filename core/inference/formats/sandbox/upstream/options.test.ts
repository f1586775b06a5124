import fc from 'fast-check';
import { expect, test } from 'vitest';
import { optionBounds, optionsInText, readOptions } from './options.ts';

test('words behind "sandbox:" are options; prose around them is not', () => {
  expect(optionsInText('please sandbox: tokens=50, chunks=5. tokens=9')).toEqual({ tokens: 50, chunks: 5 });
  expect(optionsInText('sandbox:fail=2')).toEqual({ fail: 2 });
  expect(optionsInText('tokens=50')).toEqual({});
  expect(optionsInText('the sandbox: a nice place')).toEqual({});
  expect(optionsInText('sandbox: nonsense=1 tokens=2')).toEqual({ tokens: 2 });
  expect(optionsInText('sandbox: tokens=1 then sandbox: tokens=2')).toEqual({ tokens: 2 });
});

test('a large number in words is lowered to the bound of its option', () => {
  expect(optionsInText('sandbox: parallel=999999999')).toEqual({ parallel: optionBounds.parallel });
});

test('explicit options win over words, and take true and false for flags', () => {
  const read = readOptions({ tokens: 7, redacted: true, encrypted: false }, 'sandbox: tokens=50 chunks=5');
  expect(read).toEqual({ ok: true, options: { tokens: 7, chunks: 5, redacted: 1, encrypted: 0 } });
});

test('no text and no explicit object makes reading fail or an option pass its bound', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...Object.keys(optionBounds), '__proto__'), fc.anything()),
      fc.string(),
      (explicit, text) => {
        const read = readOptions(explicit, `sandbox: ${text}`);
        if (!read.ok) return;
        for (const [name, value] of Object.entries(read.options)) {
          expect(value).toBeLessThanOrEqual(optionBounds[name as keyof typeof optionBounds]);
        }
      },
    ),
  );
});

test('reading options of a long text takes linear time', () => {
  const text = `sandbox: ${'tokens=1 '.repeat(100_000)}x`;
  const begun = performance.now();
  expect(optionsInText(text)).toEqual({ tokens: 1 });
  // Quadratic would be minutes.
  expect(performance.now() - begun).toBeLessThan(8_000);
});
