import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayLoseDigits } from './exact.ts';

test('a run of sixteen digits and points or a three-digit exponent is found wherever it stands, and nothing else', () => {
  const text = fc.string({ maxLength: 60, unit: fc.constantFrom(...'01234567899..eE+-, x') });
  fc.assert(
    fc.property(
      text,
      fc.constantFrom('', '1234567890123456', '123.456789012345', '1e999'),
      (around, number) => {
        const whole = around + number + around;
        expect(mayLoseDigits(whole)).toBe(/[\d.]{16}|\d[eE][+-]?\d{3}/.test(whole));
      },
    ),
    { numRuns: 2_000 },
  );
});
