import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { membersOf, ServiceError } from '../../../kernel/index.ts';
import { BodyScan } from './body-scan.ts';
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

function refusedAt(text: string): unknown {
  try {
    parseText(text);
  } catch (error) {
    if (error instanceof ServiceError) return [error.code, error.param];
    throw error;
  }
  return null;
}

describe('a member that occurs twice', () => {
  test.each([
    ['{"model":"a","model":"b"}', 'model'],
    ['{"model":"a","\\u006dodel":"b"}', 'model'],
    [
      '{"messages":[{"role":"user"},{"role":"user","content":"a","x":{},"content":"b"}]}',
      'messages[1].content',
    ],
    ['{"a":[[1,{"b":{"c":1,"d":[],"c":2}}]]}', 'a[0][1].b.c'],
    ['{"a":{"":1,"":2}}', 'a.'],
    ['{"a":1,"__proto__":1,"__proto__":2}', '__proto__'],
    ['{"a":"{\\"b\\":1}","b":"\\\\","c":[":"],"b":2}', 'b'],
    ['[{"a":1},{"a":1,"a":1}]', '[1].a'],
  ])('is refused with its place: %s', (text, path) => {
    expect(refusedAt(text)).toEqual(['invalid_json', path]);
  });

  test.each([
    '{}',
    '[]',
    '"a:b"',
    '1',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":1","A":2,"\\u00e4":3,"ä ":4}',
    ' { "a" : 1 , "b" : [ "x:y" , { "a" : 1 } ] } ',
    '{"1":1,"0":2,"__proto__":{"a":1},"constructor":3}',
  ])('is not seen where there is none: %s', (text) => {
    expect(refusedAt(text)).toBeNull();
  });
});

test('a member that occurs twice is refused by the count that was made as the body came', () => {
  const textOf = (message: string) =>
    `{"model":"a","messages":[{"content":${JSON.stringify('if (a === "b") {\n  c("d"); }\n'.repeat(99))}},${message}]}`;
  const parsed = (text: string) => {
    const scan = new BodyScan();
    scan.push(Buffer.from(text));
    return parseText(text, scan.members);
  };
  const once = textOf('{"role":"user","content":"a"}');
  expect(parsed(once)).toEqual(JSON.parse(once));
  expect(() => parsed(textOf('{"role":"user","role":"a"}'))).toThrow("'messages[1].role' occurs twice");
});

test('members are counted at any depth', () => {
  const deep = JSON.parse(`${'{"a":['.repeat(20_000)}${']}'.repeat(20_000)}`) as unknown;
  expect(membersOf(deep)).toBe(20_000);
});
