import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../kernel/index.ts';
import { parseText } from './parse.ts';

/** The offset that the refusal of `text` tells. */
function offsetOf(text: string): unknown {
  try {
    parseText(text);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid_json') return error.details['offset'];
    throw error;
  }
  return null;
}

describe('the offset of a fault', () => {
  // `^` marks it.
  test.each([
    '{"stream": ^True}',
    '{"stream": ^undefined, "x": 1}',
    '{"seed":^NaN}',
    '{"model": ^\'x\'}',
    '{"a": "}]\\"", "b":^}',
    '{"a":[1, 2,^]}',
    '{"a":^}',
    '{"a":[^}',
    '{"a":1,^}',
    '{"a": ^// comment\n 1}',
    '[[],{},"\\"]",-1.5e+3,true,null,^.5]',
    '^\ufeff{}',
    '{"a":[1^',
  ])('is where it stands: %s', (marked) => {
    expect(offsetOf(marked.replace('^', ''))).toBe(marked.indexOf('^'));
  });

  test('is the same wherever in a valid document the first value that is none stands', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.constantFrom('', ' ', '\n\t'), (json, space) => {
        const before = `{"a":${space}[${json},${space}`;
        expect(offsetOf(`${before}True, ${json}]}`)).toBe(before.length);
      }),
    );
  });
});
