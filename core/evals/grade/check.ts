// Whether a grader is complete: which members its kind needs and takes, and that patterns, schemas and numbers can be used.
import { decimalFrom } from './decimal.ts';
import { patternFault, schemaFault } from './schema-rules.ts';
import type { Grader, GraderKind } from './types.ts';

interface GraderFault {
  readonly param: string;
  readonly reason: 'missing' | 'unknown' | 'type' | 'format' | 'range';
  readonly message: string;
}

const members: Readonly<Record<GraderKind, { needs: readonly string[]; takes: readonly string[] }>> = {
  exact: { needs: ['expected'], takes: ['trim', 'ignore_case'] },
  contains: { needs: ['expected'], takes: ['mode', 'ignore_case'] },
  regex: { needs: ['pattern'], takes: ['flags', 'full_match'] },
  json_schema: { needs: ['schema'], takes: [] },
  numeric: { needs: ['expected'], takes: ['abs', 'rel', 'pick'] },
  judge: { needs: ['rubric'], takes: ['model', 'scale', 'threshold', 'reference'] },
};
const DEFAULT_SCALE = 5;
const DEFAULT_THRESHOLD = 4;

/** Scale and threshold of a judge, with their defaults. */
export function scaleOf(grader: Grader): { scale: number; threshold: number } {
  const { scale = DEFAULT_SCALE } = grader;
  return { scale, threshold: grader.threshold ?? Math.min(DEFAULT_THRESHOLD, scale) };
}

function numericFault(grader: Grader, at: string): GraderFault | null {
  for (const name of ['expected', 'abs', 'rel'] as const) {
    const value = grader[name];
    if (value === undefined) continue;
    const decimal = Array.isArray(value) ? null : decimalFrom(String(value));
    const param = `${at}.${name}`;
    if (decimal === null) return { param, reason: 'format', message: `${param} is not a decimal number.` };
    if (name !== 'expected' && decimal.digits < 0n) {
      return { param, reason: 'range', message: `${param} must not be below 0.` };
    }
  }
  return null;
}

function textFault({ expected }: Grader, at: string): GraderFault | null {
  if (typeof expected !== 'number') return null;
  return { param: `${at}.expected`, reason: 'type', message: `${at}.expected is a text or a list of texts.` };
}

function ownFault(grader: Grader, at: string): GraderFault | null {
  switch (grader.kind) {
    case 'exact':
    case 'contains':
      return textFault(grader, at);
    case 'numeric':
      return numericFault(grader, at);
    case 'regex': {
      const message = patternFault(grader.pattern as string);
      return message === null ? null : { param: `${at}.pattern`, reason: 'format', message };
    }
    case 'json_schema': {
      const fault = schemaFault(grader.schema as Record<string, unknown>, `${at}.schema`);
      return fault === null ? null : { param: fault.path, reason: 'format', message: fault.message };
    }
    case 'judge': {
      const { scale, threshold } = scaleOf(grader);
      if (threshold <= scale) return null;
      const param = `${at}.threshold`;
      return { param, reason: 'range', message: `${param} is above the scale of ${scale}.` };
    }
  }
}

/** The first fault of a grader of the declared form; null: it can grade. `at` is its path. */
export function graderFault(grader: Grader, at: string): GraderFault | null {
  const { needs, takes } = members[grader.kind];
  for (const name of needs) {
    if (Object.hasOwn(grader, name)) continue;
    const param = `${at}.${name}`;
    return {
      param,
      reason: 'missing',
      message: `${param} is missing: a grader of kind ${grader.kind} needs it.`,
    };
  }
  for (const name of Object.keys(grader)) {
    if (name === 'kind' || needs.includes(name) || takes.includes(name)) continue;
    const param = `${at}.${name}`;
    return { param, reason: 'unknown', message: `${param} is no member of a grader of kind ${grader.kind}.` };
  }
  return ownFault(grader, at);
}
