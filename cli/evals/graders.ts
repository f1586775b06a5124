// Graders that imports make out of what other tools have.
import { type Grader, graderFault } from '@svc/core/evals/index.ts';
import type { JsonObject } from '@svc/core/kernel/index.ts';
import type { Losses } from './losses.ts';

/** `text` as a pattern that matches it and nothing else, in RE2 and elsewhere. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** One of `texts`, as a pattern. */
export function oneOfPattern(texts: readonly string[]): string {
  return `(?:${texts.map(literal).join('|')})`;
}

/** The grade from which on a judge's scale passes, for a threshold from 0 to 1. */
export function gradeFrom(share: number, scale: number): number {
  return Math.min(scale, Math.max(1, 1 + Math.ceil(share * (scale - 1) - 1e-9)));
}

export function judge(rubric: string, more: Partial<Grader> = {}): Grader {
  return { kind: 'judge', rubric, ...more };
}

/** A judge who only says yes (2) or no (1). */
export function yesOrNo(rubric: string, more: Partial<Grader> = {}): Grader {
  return judge(`${rubric}\nGrade 2 where this holds, and 1 where it does not.`, {
    ...more,
    scale: 2,
    threshold: 2,
  });
}

/** A text of the form of a JSON value: equal to it whatever its spaces and the order of its members are. */
export function sameJson(value: unknown): Grader {
  return { kind: 'json_schema', schema: { const: value } as JsonObject };
}

/** `grader` when it can grade; else null, and what is wrong with it is noted. */
export function usable(grader: Grader, place: string, losses: Losses): Grader | null {
  const fault = graderFault(grader, 'grader');
  if (fault === null) return grader;
  losses.dropped(place, `a grader that cannot be used here: ${fault.message}`);
  return null;
}
