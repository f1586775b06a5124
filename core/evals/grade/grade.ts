// Grades a text by every kind but `judge`, which asks a model (judge.ts). Pure: the same text has the same verdict.
import { RE2JS } from 're2js';
import { decimalFrom, distance, isAtMost, timesMagnitude } from './decimal.ts';
import { type Fault, faultsAgainst, type JsonSchema, TooMuch } from './schema-check.ts';
import type { Grader, Verdict } from './types.ts';

/** A text that is longer is not graded: patterns and schemas cost time per character. */
export const TEXT_MAX = 1_048_576;
const SHOWN_MAX = 200;
const NUMBERS = /[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const JSON_BLOCK = /```json[^\S\n]*\n([\s\S]*?)```/g;

/** The text that graders see: line ends are LF, and characters are composed (NFC). */
export function normalText(text: string): string {
  return text.replaceAll('\r\n', '\n').normalize('NFC');
}

function verdict(passed: boolean, detail: Verdict['detail'] = {}): Verdict {
  return { passed, score: passed ? 1 : 0, detail };
}

function shown(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function expectedTexts({ expected }: Grader): readonly string[] {
  return [expected].flat().map((one) => normalText(String(one)));
}

function gradeExact(grader: Grader, text: string): Verdict {
  const { trim = true, ignore_case = false } = grader;
  const form = (one: string) => {
    const cut = trim ? one.trim() : one;
    return ignore_case ? cut.toLowerCase() : cut;
  };
  const given = form(text);
  return verdict(expectedTexts(grader).some((one) => form(one) === given));
}

function gradeContains(grader: Grader, text: string): Verdict {
  const { mode = 'all', ignore_case = false } = grader;
  const form = (one: string) => (ignore_case ? one.toLowerCase() : one);
  const inside = form(text);
  const expected = expectedTexts(grader);
  const found = expected.filter((one) => inside.includes(form(one)));
  const detail = { found: found.length, of: expected.length };
  if (mode === 'any') return verdict(found.length > 0, detail);
  if (mode === 'none') return verdict(found.length === 0, detail);
  return { passed: found.length === expected.length, score: found.length / expected.length, detail };
}

function flagsOf(flags = ''): number {
  let bits = 0;
  if (flags.includes('i')) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes('m')) bits |= RE2JS.MULTILINE;
  if (flags.includes('s')) bits |= RE2JS.DOTALL;
  return bits;
}

function gradeRegex(grader: Grader, text: string): Verdict {
  const matcher = RE2JS.compile(grader.pattern as string, flagsOf(grader.flags)).matcher(text);
  if (grader.full_match === true) return verdict(matcher.matches());
  if (!matcher.find()) return verdict(false);
  return verdict(true, { found: shown(matcher.group() ?? '') });
}

/** The JSON value of an answer: the whole text, or the only block of it that says it is JSON. */
function jsonOf(text: string): { value: unknown } | null {
  const blocks = [...text.matchAll(JSON_BLOCK)];
  const tries = blocks.length === 1 ? [text, blocks[0]?.[1] ?? ''] : [text];
  for (const one of tries) {
    try {
      return { value: JSON.parse(one) };
    } catch {
      // The next form of it, or none.
    }
  }
  return null;
}

function gradeSchema(grader: Grader, text: string): Verdict {
  const parsed = jsonOf(text);
  if (parsed === null) return verdict(false, { errors: [{ path: '$', message: 'is not JSON' }] });
  let errors: readonly Fault[];
  try {
    errors = faultsAgainst(grader.schema as JsonSchema, parsed.value);
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    errors = [{ path: '$', message: error.message }];
  }
  const few = errors.map(({ path, message }) => ({ path: shown(path), message }));
  return verdict(errors.length === 0, errors.length === 0 ? {} : { errors: few });
}

function gradeNumeric(grader: Grader, text: string): Verdict {
  const numbers = text.match(NUMBERS) ?? [];
  const picked = (grader.pick === 'first' ? numbers[0] : numbers.at(-1))?.replaceAll(',', '');
  if (picked === undefined) return verdict(false, { found: null });
  const detail = { found: shown(picked) };
  const given = decimalFrom(picked);
  const expected = decimalFrom(String(grader.expected));
  if (given === null || expected === null) return verdict(false, detail);
  const off = distance(given, expected);
  const absolute = decimalFrom(String(grader.abs ?? 0));
  const relative = decimalFrom(String(grader.rel ?? 0));
  const within =
    (absolute !== null && isAtMost(off, absolute)) ||
    (relative !== null && isAtMost(off, timesMagnitude(relative, expected)));
  return verdict(within, detail);
}

/** The verdict of `grader`, which `graderFault` has accepted, on `text`. @throws Error for a judge (a defect). */
export function gradeText(grader: Grader, text: string): Verdict {
  if (text.length > TEXT_MAX) return verdict(false, { too_long: text.length });
  const normal = normalText(text);
  switch (grader.kind) {
    case 'exact':
      return gradeExact(grader, normal);
    case 'contains':
      return gradeContains(grader, normal);
    case 'regex':
      return gradeRegex(grader, normal);
    case 'json_schema':
      return gradeSchema(grader, normal);
    case 'numeric':
      return gradeNumeric(grader, normal);
    case 'judge':
      throw new Error('a judge is a model, not a function');
  }
}
