import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ProtocolFault } from '../../wire/fault.ts';
import { vectorIn, vectorOfBase64, vectorOfJson } from './vectors.ts';

function dimensionsOf(text: string): number | null {
  try {
    return vectorOfJson(text).dimensions;
  } catch {
    return null;
  }
}

/** The same by the platform's own parser. */
function parsedLength(text: string): number | null {
  try {
    const value = JSON.parse(text) as unknown[];
    return value.length > 0 && value.every(Number.isFinite) ? value.length : null;
  } catch {
    return null;
  }
}

describe('the two forms of a vector', () => {
  test('a vector wanted in its own form keeps every character', () => {
    const text = '[0.10, 1e-05, -0.12345678901234567890123, 2]';
    expect(vectorIn('float', vectorOfJson(text)).text).toBe(text);
    const packed = Buffer.from(new Float32Array([1, -0.5]).buffer).toString('base64');
    expect(vectorIn('base64', vectorOfBase64(packed)).text).toBe(packed);
  });

  test('base64 is little-endian float32', () => {
    expect(vectorIn('base64', vectorOfJson('[1, -2]')).text).toBe(
      Buffer.from([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]).toString('base64'),
    );
  });

  test('any float32 survives the way to numbers and back', () => {
    const finite = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.array(finite, { minLength: 1, maxLength: 40 }), (numbers) => {
        const bytes = Buffer.alloc(numbers.length * 4);
        numbers.forEach((number, i) => {
          // JSON has no word for the zero below zero.
          bytes.writeFloatLE(number === 0 ? 0 : number, i * 4);
        });
        const packed = vectorOfBase64(bytes.toString('base64'));
        expect(packed.dimensions).toBe(numbers.length);
        expect(vectorIn('base64', vectorOfJson(vectorIn('float', packed).text))).toEqual(packed);
      }),
    );
  });

  test('a vector is exactly what JSON takes for a list of finite numbers', () => {
    const piece = fc.constantFrom(
      '0',
      '1',
      '-',
      '+',
      '..',
      'e',
      'E',
      '12',
      ' ',
      ',',
      '\n',
      '"',
      '[',
      'null',
      '1e400',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = `[${pieces.join('')}]`;
        expect(dimensionsOf(text)).toBe(parsedLength(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test.each(['[]', '{}', '[null]', '["1"]', '[1', '[[1]]', '1', '[1e999]'])('%s is no vector', (text) => {
    expect(() => vectorOfJson(text)).toThrow(ProtocolFault);
  });

  test.each(['', 'AAA', 'AAAA', 'AAAAAA==!', 'AAAAA===', 'not base64 at all'])(
    '%j is no base64 of one',
    (text) => {
      expect(() => vectorOfBase64(text)).toThrow(ProtocolFault);
    },
  );

  test('what the other form cannot say is a fault of the provider, not a silent infinity', () => {
    expect(() => vectorIn('base64', vectorOfJson('[1e39]'))).toThrow(ProtocolFault);
    const nan = Buffer.alloc(4);
    nan.writeFloatLE(Number.NaN);
    expect(() => vectorIn('float', vectorOfBase64(nan.toString('base64')))).toThrow(ProtocolFault);
  });
});
