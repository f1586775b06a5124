import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce, ServiceError } from '../../kernel/index.ts';
import { parseText } from './admit/parse.ts';
import { parseInSteps } from './sliced-json.ts';

function outcomeOf(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, offset: error.details['offset'] };
    throw error;
  }
}

const sliced = (text: string) => outcomeOf(() => atOnce(parseInSteps(Buffer.from(text))));
const whole = (text: string) => outcomeOf(() => parseText(text));

/** Enough of `item` for several pieces. */
const many = (item: (i: number) => string, count = 9_000) =>
  Array.from({ length: count }, (_, i) => item(i)).join(',');
const long = (unit: string, length = 700_000) => unit.repeat(Math.ceil(length / unit.length));

const texts: readonly [string, string][] = [
  ['messages', `{"messages":[${many((i) => `{"role":"user","content":"é ${i}"}`)}],"stream":true}`],
  ['members', `{"a":{${many((i) => `"k${i}":${i}`)}},"b":1}`],
  ['members named like numbers', `{"a":{${many((i) => `"${9_000 - i}":{"x":[${i}]}`)}}}`],
  ['members twice', `{"a":[1],${many((i) => `"k${i % 100}":[{"v":${i}}]`)},"a":{"b":2}}`],
  ['the prototype', `{"__proto__":{"a":[${many(String)}]},"b":{"__proto__":[${many(String)}],"c":0}}`],
  ['lists in lists', `{"a":[${many((i) => `[[${i}],[],{}]`)}]}`],
  ['levels', `{"a":${'[{"b":['.repeat(200)}${many(String)}${']}]'.repeat(200)}}`],
  ['white space', `{ "a" : [ ${many((i) => ` { "b" : ${i} } \n`)} ] , "c" : "d" }`],
  ['long strings', `{"a":["${long('x')}", "${long('é語😀')}" , 1],"${'n'.repeat(99)}":"${long('y')}"}`],
  [
    'escapes',
    `{"a":"${long('\\"')}","b":["${long('\\\\')}","${long('\\u00e9\\n')}x","${long('a\\ud83d\\ude00')}"]}`,
  ],
];

describe('a large text in slices', () => {
  test.each(texts)('is what it is as a whole: %s', async (_name, text) => {
    const found = (await sliced(text)) as { value: unknown };
    const wanted = (await whole(text)) as { value: unknown };
    expect(JSON.stringify(found.value) === JSON.stringify(wanted.value)).toBe(true);
    expect(found).toEqual(wanted);
  });

  test('has a member twice as a whole has it, wherever the two stand', async () => {
    const [first = '', last = ''] = texts.find(([name]) => name === 'members twice') ?? [];
    expect([first, await sliced(last)]).toEqual([
      'members twice',
      { code: 'invalid_json', offset: undefined },
    ]);
    const far = `{"a":[${many((i) => `{"b":${i}}`)}],"c":{"d":"${long('x')}","e":1,"d":2}}`;
    expect(await sliced(far)).toEqual({ code: 'invalid_json', offset: undefined });
  });

  test('lets others come between them', () => {
    expect([...parseInSteps(Buffer.from(texts[0]?.[1] ?? ''))].length).toBeGreaterThan(5);
  });

  test('is refused with the place of its fault as a whole is, wherever a character is lost or put in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(texts.length - 3),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.constantFrom('', ',', ']', '}', '[', ':', 'x', '"', '0', '\n'),
        async (which, place, put) => {
          const text = texts[which]?.[1] ?? '';
          const at = place % text.length;
          const broken = text.slice(0, at) + put + text.slice(at + 1);
          const found = await sliced(broken);
          const wanted = await whole(broken);
          expect(
            JSON.stringify(found) === JSON.stringify(wanted),
            `${at} ${put} ${JSON.stringify(found).slice(0, 80)} ${JSON.stringify(wanted).slice(0, 80)}`,
          ).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each([
    [
      'in a long string',
      (fault: string) => `{"a":"${long('xy\\n')}${fault}${long('z')}"}`,
      ['\n', '\\x', '\\u12g4'],
    ],
    [
      'behind a long string',
      (fault: string) => `{"a":"${long('xy')}"${fault}`,
      ['', ' x}', ',}', ' 1}', ',,"b":1}'],
    ],
  ])('tells a fault %s', async (_name, textOf, faults) => {
    for (const fault of faults) {
      const found = (await sliced(textOf(fault))) as { code: string };
      expect(found.code, fault).toBe('invalid_json');
      expect(found, fault).toEqual(await whole(textOf(fault)));
    }
  });
});
