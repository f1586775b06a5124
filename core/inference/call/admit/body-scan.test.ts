import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { membersOf, ServiceError } from '../../../kernel/index.ts';
import { scanObject } from '../../wire/scan.ts';
import { BodyScan } from './body-scan.ts';

/** How `text` is read when it comes in chunks of so many bytes. */
function readingOf(text: string, chunk = 65_536): string {
  const bytes = Buffer.from(text);
  const scan = new BodyScan();
  try {
    for (let at = 0; at < bytes.length; at += chunk) scan.push(bytes.subarray(at, at + chunk));
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${Object.keys(error.details).join()}`;
    throw error;
  }
  return scan.inSlices ? 'in slices' : 'at once';
}

describe('a body that holds more than anybody needs', () => {
  test.each([
    ['objects', `[${'{},'.repeat(100_001)}0]`, 'limit_items'],
    ['lists', `[${'[],'.repeat(100_001)}0]`, 'limit_items'],
    ['members', `[${`{${'"a":0,'.repeat(4_000)}"b":0},`.repeat(26)}0]`, 'limit_items'],
    ['members of one object', `[{"b":{}},{${'"a":0,'.repeat(10_001)}"b":0}]`, 'limit_members'],
    ['values', `[${'1,'.repeat(500_001)}0]`, 'limit_values'],
    ['parameters', `{${'"a":0,'.repeat(1_001)}"b":0}`, 'limit_parameters'],
    ['white space', `{${' '.repeat(9_000_000)}}`, 'limit_structure_bytes'],
  ])('is refused: %s', (_name, text, limit) => {
    expect(readingOf(text)).toBe(`request_too_large ${limit}`);
  });

  test('is refused for its depth where it is not small', () => {
    expect(readingOf(`${'['.repeat(1_001)}${'[],'.repeat(4_000)}0${']'.repeat(1_001)}`)).toBe(
      'invalid_json ',
    );
  });

  test('is refused as soon as it has come so far', () => {
    const scan = new BodyScan();
    const chunk = Buffer.from('[],'.repeat(20_000));
    for (let i = 0; i < 5; i++) scan.push(chunk);
    expect(() => scan.push(chunk)).toThrow(ServiceError);
  });

  test('is not one with long texts', () => {
    expect(readingOf(JSON.stringify({ data: '{[:"\\,'.repeat(1_000_000) }))).toBe('in slices');
  });
});

describe('a body is read', () => {
  test.each([
    ['at once', JSON.stringify({ messages: [{ role: 'user', content: 'a'.repeat(1_000_000) }] })],
    ['in slices', JSON.stringify({ messages: [{ role: 'user', content: 'a'.repeat(1_100_000) }] })],
    ['in slices', JSON.stringify({ messages: new Array(2_000).fill({ role: 'user', content: 'a' }) })],
    ['in slices', JSON.stringify({ input: new Array(60_000).fill(1) })],
  ])('%s', (wanted, text) => {
    expect(readingOf(text)).toBe(wanted);
  });

  test('the same in whatever chunks it comes', () => {
    const piece = fc.constantFrom('\\', '"', '\\"', '\\\\', 'x'.repeat(60), '{', '[', ',', ':', '}');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 90 }), (pieces, chunk) => {
        // Enough members behind it to tell whether the scan thinks that it is inside a string.
        const text = `${pieces.join('')}${'{},'.repeat(4_001)}`;
        expect(readingOf(text, chunk)).toBe(readingOf(text));
      }),
    );
  });

  test('in strings as they end: quotes behind escapes do not end them', () => {
    const dense = '[],'.repeat(4_001);
    const text = (inside: string) => `{"a":"${inside}${dense}`;
    for (const far of ['', 'x'.repeat(200)]) {
      for (const [inside, inside_it] of [
        ['\\"', true],
        ['\\\\"', false],
        ['\\\\\\"', true],
      ] as const) {
        expect(readingOf(text(far + inside)), inside).toBe(inside_it ? 'at once' : 'in slices');
      }
    }
  });
});

test('the members of a body are counted as its JSON has them, in whatever chunks it comes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 200 }), (value, chunk) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const scan = new BodyScan();
      for (let at = 0; at < bytes.length; at += chunk) scan.push(bytes.subarray(at, at + chunk));
      expect(scan.members).toBe(membersOf(value));
    }),
  );
});

/** JSON text of `value` with `space` wherever JSON allows it. */
function spaced(value: unknown, space: string): string {
  const inner = (item: unknown) => `${space}${spaced(item, space)}${space}`;
  if (Array.isArray(value)) return `[${value.map(inner).join(',')}${space}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${space}${JSON.stringify(name)}${space}:${inner(item)}`,
  );
  return `{${members.join(',')}${space}}`;
}

test('the members of a body are noted where a scan of the whole finds them, in whatever chunks it comes', () => {
  const object = fc.dictionary(fc.string({ unit: 'binary', maxLength: 8 }), fc.jsonValue(), { maxKeys: 6 });
  const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
  fc.assert(
    fc.property(object, space, fc.integer({ min: 1, max: 200 }), (value, space, chunk) => {
      const bytes = Buffer.from(`${space}${spaced(value, space)}${space}`);
      const scan = new BodyScan();
      for (let at = 0; at < bytes.length; at += chunk) scan.push(bytes.subarray(at, at + chunk));
      expect(scan.topOf(bytes)).toEqual(scanObject(bytes));
    }),
  );
});

test.each(['[{"a":1}]', '"a"', '{"a":1', '', '{"a":1,,"b":2}', '{"a" 1}'])(
  'of a body that is no object nothing is noted: %s',
  (text) => {
    const scan = new BodyScan();
    scan.push(Buffer.from(text));
    expect(scan.topOf(Buffer.from(text)) ?? { members: [] }).toMatchObject({ members: [] });
  },
);
