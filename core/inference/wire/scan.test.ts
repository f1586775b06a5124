import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addMember,
  changeMembers,
  duplicated,
  memberOf,
  removeMember,
  scanArray,
  scanObject,
  splice,
} from './scan.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

/** Objects with awkward keys and values, as text with free white space and free escapes. */
const keys = fc.oneof(
  fc.constantFrom('model', 'svc', 'a', '', '__proto__', 'ключ', 'a"b', 'x\\y', '\u2028'),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);
const spaces = fc.constantFrom('', ' ', '\n', '\t ', '\r\n');
/** Vectors, and lists that begin like one. */
const longLists = fc
  .tuple(
    fc.array(fc.double({ noDefaultInfinity: true, noNaN: true }), { minLength: 100, maxLength: 140 }),
    fc.option(fc.constantFrom('"]"', '[1]', '[]', '{}', '{"a":[2]}', 'null', '"\\""')),
    fc.nat(140),
    spaces,
  )
  .map(([numbers, odd, at, space]) => {
    const items: string[] = numbers.map((number) => JSON.stringify(number));
    if (odd !== null) items.splice(at, 0, odd);
    return `[${space}${items.join(`,${space}`)}${space}]`;
  });
const values = fc.oneof(
  longLists,
  fc.json({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('9007199254740993', '1e400', '-0', '1.50', 'true', 'null', '{}', '[]', '{"}":"]\\\\"}'),
);
const escaped = (key: string, escapes: boolean): string =>
  escapes
    ? `"${[...key].map((c) => [...c].flatMap((u) => Array.from({ length: u.length }, (_, i) => `\\u${u.charCodeAt(i).toString(16).padStart(4, '0')}`)).join('')).join('')}"`
    : JSON.stringify(key);
const objects = fc.array(fc.tuple(keys, values, fc.boolean(), spaces), { maxLength: 8 }).map((members) => ({
  members,
  text: `{${members.map(([key, value, escapes, s]) => `${s}${escaped(key, escapes)}${s}:${s}${value}${s}`).join(',')}}`,
}));

describe('scan', () => {
  it('finds every member of every valid object where JSON.parse finds it', () => {
    fc.assert(
      fc.property(objects, spaces, ({ members, text }, space) => {
        const body = bytes(space + text + space);
        const top = scanObject(body);
        expect(top).not.toBeNull();
        expect(top!.members.map(({ name }) => name)).toEqual(members.map(([key]) => key));
        const parsed = JSON.parse(body.toString());
        for (const name of new Set(members.map(([key]) => key))) {
          const member = memberOf(top!, name)!;
          expect(JSON.parse(body.toString('utf8', member.from, member.to))).toEqual(
            Object.getOwnPropertyDescriptor(parsed, name)!.value,
          );
        }
        expect(duplicated(top!) === null).toBe(new Set(members.map(([key]) => key)).size === members.length);
      }),
      { numRuns: 500 },
    );
  });

  it('takes time by the length of lists within lists of numbers, not by its square', () => {
    const ms = (value: string) => {
      const body = bytes(`{"a":${value}}`);
      const tries = Array.from({ length: 3 }, () => {
        const began = performance.now();
        expect(scanObject(body)).not.toBeNull();
        return performance.now() - began;
      });
      return Math.min(...tries);
    };
    const levels = 300_000;
    const flat = `[${'[1],'.repeat(levels)}[1]]`;
    const deep = `${'[1,'.repeat(levels)}1${']'.repeat(levels)}`;
    expect(ms(deep)).toBeLessThan(10 * ms(flat) + 5);
  });

  it('finds the same in the decoded text as in the bytes, whatever the bytes are', () => {
    const mutated = fc
      .tuple(objects, fc.array(fc.tuple(fc.nat(), fc.constantFrom(0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0xc3, 0xff))))
      .map(([{ text }, changes]) => {
        const body = bytes(text);
        for (const [at, byte] of changes.slice(0, 3)) body[at % body.length] = byte;
        return body;
      });
    let in_text = 0;
    fc.assert(
      fc.property(mutated, (body) => {
        const text = body.toString('utf8');
        if (text.length === body.length) in_text++;
        expect(scanObject(body, undefined, text)).toEqual(scanObject(body));
      }),
      { numRuns: 2_000 },
    );
    expect(in_text).toBeGreaterThan(200);
  });

  it('sets and removes any combination of members as an object would', () => {
    fc.assert(
      fc.property(objects, fc.dictionary(keys, fc.option(fc.json({ maxDepth: 1 }))), ({ text }, wanted) => {
        const body = bytes(text);
        const top = scanObject(body)!;
        fc.pre(duplicated(top) === null);
        const changes = Object.assign(Object.create(null), wanted) as Record<string, string | null>;
        const result = JSON.parse(splice(body, changeMembers(top, changes)).toString());
        const expected = Object.assign(Object.create(null), JSON.parse(text));
        for (const [name, json] of Object.entries(changes)) {
          if (json === null) delete expected[name];
          else expected[name] = JSON.parse(json);
        }
        const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
        expect(Object.entries(result).sort(byName)).toEqual(Object.entries(expected).sort(byName));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves every byte outside the changed members alone', () => {
    const body = bytes('{ "a" : 1.50, "model":"x" ,"n":9007199254740993,"b":[1e5, 2]}');
    const top = scanObject(body)!;
    expect(splice(body, changeMembers(top, { model: '"up"' })).toString()).toBe(
      '{ "a" : 1.50, "model":"up" ,"n":9007199254740993,"b":[1e5, 2]}',
    );
    expect(splice(body, [removeMember(top, body, 'n')!, addMember(top, '"z":0')]).toString()).toBe(
      '{ "a" : 1.50, "model":"x","b":[1e5, 2],"z":0}',
    );
    expect(removeMember(top, body, 'absent')).toBeNull();
  });

  it('adds the first member of an empty object without a comma', () => {
    const body = bytes('{ }');
    expect(splice(body, [addMember(scanObject(body)!, '"a":1')]).toString()).toBe('{ "a":1}');
  });

  it('is not sure of what is no single object', () => {
    for (const text of [
      '',
      '[]',
      '{',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{"a":1}x',
      '{"a":1}{}',
      '{a:1}',
      '"x"',
      'null',
    ]) {
      expect(scanObject(bytes(text)), text).toBeNull();
    }
  });

  it('reads a nested object without looking behind it', () => {
    const body = bytes('{"o":{"x":1},"y":2}');
    const outer = scanObject(body)!;
    const inner = scanObject(body, memberOf(outer, 'o')!.from)!;
    expect(inner.members.map(({ name }) => name)).toEqual(['x']);
  });

  it('finds every item of every array', () => {
    fc.assert(
      fc.property(fc.array(values), spaces, (items, space) => {
        const body = bytes(
          `[${items.map((item) => space + item + space).join(',')}${items.length === 0 ? space : ''}]`,
        );
        const spans = scanArray(body, 0)!;
        expect(spans.map(({ from, to }) => body.toString('utf8', from, to))).toEqual(
          items.map((item) => item.trim()),
        );
      }),
    );
  });

  it('refuses edits that overlap', () => {
    const edits = [
      { from: 0, to: 4, text: 'a' },
      { from: 3, to: 5, text: 'b' },
    ];
    expect(() => splice(bytes('0123456789'), edits)).toThrow(RangeError);
  });
});
