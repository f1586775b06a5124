// A suite as a file: what imports become, what `svcctl evals export` writes and what `svcctl evals run` reads.
import type { CaseIn, Grader } from '@svc/core/evals/index.ts';
import { isObject } from '@svc/core/kernel/index.ts';
import type { Losses } from './losses.ts';

/** What a file may say of its runs; flags of the command line stand above it. */
export interface RunSettings {
  readonly targets?: readonly { readonly model?: string; readonly endpoint?: string }[];
  readonly budget_micro?: number;
  readonly repeat?: number;
  readonly concurrency?: number;
  readonly judge_model?: string;
  readonly judge_samples?: number;
  readonly threshold?: number;
}

export interface SuiteFile {
  readonly name: string;
  readonly cases: readonly CaseIn[];
  readonly run: RunSettings;
}

/** A grader with its share of the weight of a case that has several. */
export interface WeighedGrader {
  readonly grader: Grader;
  readonly weight: number;
}

/** A case on its way into a suite: it may still have several graders. */
export interface CaseDraft {
  readonly id: string;
  readonly input: CaseIn['input'];
  readonly graders: readonly WeighedGrader[];
  readonly weight?: number;
  readonly tags?: readonly string[];
}

const ID_MAX = 128;
const TAG_MAX = 64;
const TAGS_MAX = 16;

function oneLine(text: string, max: number): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return [...line].slice(0, max).join('');
}

/** Ids of cases: one line, not too long, and none twice. */
export class CaseIds {
  private readonly seen = new Set<string>();

  take(wanted: string, place: number): string {
    const base = oneLine(wanted, ID_MAX - 8) || `case_${place + 1}`;
    let id = base;
    for (let n = 2; this.seen.has(id); n++) id = `${base}-${n}`;
    this.seen.add(id);
    return id;
  }
}

function isAll({ grader: { kind, mode = 'all' } }: WeighedGrader): boolean {
  return kind === 'contains' && mode === 'all';
}

/** Graders that ask for parts of a text in the same way, as one: all of the parts must be there. */
function mergeContains(graders: readonly WeighedGrader[]): WeighedGrader[] {
  const merged: WeighedGrader[] = [];
  for (const one of graders) {
    const same = (other: WeighedGrader) =>
      isAll(one) && isAll(other) && Boolean(one.grader.ignore_case) === Boolean(other.grader.ignore_case);
    const at = merged.findIndex(same);
    const twin = merged[at];
    if (twin === undefined) {
      merged.push(one);
      continue;
    }
    const expected = [twin, one].flatMap(({ grader }) => grader.expected as string | string[]);
    merged[at] = { grader: { ...twin.grader, expected }, weight: twin.weight + one.weight };
  }
  return merged;
}

/**
 * The cases that a draft becomes: one, or one for each of its graders, which share its weight. A case without a grader
 * is lost.
 */
export function casesOfDraft(draft: CaseDraft, losses: Losses): CaseIn[] {
  const { id, input, weight = 1 } = draft;
  const graders = mergeContains(draft.graders);
  const tags = [...new Set((draft.tags ?? []).map((tag) => oneLine(tag, TAG_MAX)))].filter(Boolean);
  const common = { input, ...(tags.length === 0 ? {} : { tags: tags.slice(0, TAGS_MAX) }) };
  const withWeight = (value: number) => (value === 1 ? {} : { weight: value });
  const [first, second] = graders;
  if (first === undefined) {
    losses.dropped(id, 'a case without a grader that can be brought over');
    return [];
  }
  if (second === undefined) return [{ id, ...common, grader: first.grader, ...withWeight(weight) }];
  losses.changed(id, 'a case with several graders is asked once for each, and its weight is shared');
  const sum = graders.reduce((all, one) => all + one.weight, 0) || 1;
  return graders.map((one, n) => ({
    id: `${id}#${n + 1}`,
    ...common,
    grader: one.grader,
    ...withWeight((weight * one.weight) / sum),
  }));
}

/** The suite in a file of our own form; null: it is of another. Its cases are checked where it is stored. */
export function readOwn(value: unknown): SuiteFile | null {
  if (!isObject(value) || !Array.isArray(value['cases'])) return null;
  const { name, cases, run } = value;
  return {
    name: typeof name === 'string' ? name : '',
    cases: cases as CaseIn[],
    run: isObject(run) ? (run as RunSettings) : {},
  };
}
