// Scorers of Inspect, as graders.
// @see https://inspect.aisi.org.uk/scorers.html
import type { Grader } from '@svc/core/evals/index.ts';
import type { JsonObject } from '@svc/core/kernel/index.ts';
import { literal, oneOfPattern, usable, yesOrNo } from './graders.ts';
import type { Losses } from './losses.ts';

export interface Scorer {
  readonly name: string;
  readonly params: JsonObject;
}

interface Scored {
  readonly id: string;
  readonly targets: readonly string[];
}

/** Which number of an answer is meant, by where Inspect looks. */
const PICKS: Readonly<Record<string, 'first'>> = { begin: 'first' };
/** What may stand around a target: Inspect takes punctuation and spaces off first. */
const LOOSE = '[\\s\\pP]*';

function flagsOf({ params }: Scorer): { flags?: string } {
  return params['ignore_case'] === false ? {} : { flags: 'i' };
}

function match(scorer: Scorer, { id, targets }: Scored, losses: Losses): Grader {
  const { location = 'end', numeric } = scorer.params;
  const [only = ''] = targets;
  if (numeric === true && targets.length === 1 && /^[-+]?[\d.,]+$/.test(only.trim())) {
    // Inspect compares five digits.
    const expected = only.trim().replaceAll(',', '');
    return { kind: 'numeric', expected, rel: 0.000005, pick: PICKS[String(location)] ?? 'last' };
  }
  if (numeric === true)
    losses.changed(id, 'match(numeric=True) with a target that is not one number: as text');
  const one = oneOfPattern(targets.map((target) => target.trim()));
  const first = `^${LOOSE}${one}`;
  const last = `${one}${LOOSE}$`;
  const patterns: Readonly<Record<string, string>> = {
    begin: first,
    end: last,
    any: one,
    exact: `^${LOOSE}${one}${LOOSE}$`,
  };
  return { kind: 'regex', pattern: patterns[String(location)] ?? last, ...flagsOf(scorer) };
}

function includes(scorer: Scorer, { targets }: Scored): Grader {
  const ignore_case = scorer.params['ignore_case'] !== false;
  return { kind: 'contains', expected: [...targets], mode: 'any', ...(ignore_case ? { ignore_case } : {}) };
}

function answer(scorer: Scorer, { targets }: Scored): Grader {
  const one = oneOfPattern(targets.map((target) => target.trim()));
  const end = scorer.params['pattern'] === 'line' ? '[^\\S\\n]*(?:\\n|$)' : '(?:[^\\w]|$)';
  return { kind: 'regex', pattern: `ANSWER\\s*:\\s*${one}${end}`, flags: 'i' };
}

/** `pattern()` compares a group with the target: the group becomes the target. */
function pattern(scorer: Scorer, { id, targets }: Scored, losses: Losses): Grader | null {
  const source = String(scorer.params['pattern'] ?? '');
  const groups = [...source.matchAll(/(?<!\\)\((?!\?)[^()]*\)/g)];
  const [group] = groups;
  if (group === undefined || groups.length > 1) {
    losses.dropped(id, 'pattern() without exactly one simple group');
    return null;
  }
  const wanted = oneOfPattern(targets);
  const whole = source.slice(0, group.index) + wanted + source.slice(group.index + group[0].length);
  return { kind: 'regex', pattern: whole, ...flagsOf(scorer) };
}

function modelGraded(scorer: Scorer, { id, targets }: Scored, losses: Losses): Grader {
  const { model, instructions, template, partial_credit } = scorer.params;
  if (typeof model === 'string') losses.changed(id, `${scorer.name} by ${model}: name the judge in the run`);
  if (template !== undefined || instructions !== undefined) {
    losses.changed(id, `${scorer.name} with a prompt of its own: graded by the words of ours`);
  }
  if (partial_credit === true) losses.changed(id, `${scorer.name} with partial credit: right or wrong here`);
  const facts = scorer.name === 'model_graded_fact';
  const rubric = facts
    ? 'The answer states the facts of the reference. It may say more.'
    : 'The answer is right by the criterion that the reference states.';
  return yesOrNo(rubric, { reference: targets.join('\n') });
}

const BY_NAME: Readonly<Record<string, (scorer: Scorer, scored: Scored, losses: Losses) => Grader | null>> = {
  match,
  includes,
  answer,
  pattern,
  model_graded_qa: modelGraded,
  model_graded_fact: modelGraded,
  choice: (_scorer, { targets }) => ({
    kind: 'regex',
    pattern: `ANSWER\\s*:\\s*${targets.map((target) => literal(target.trim())).join('\\s*,?\\s*')}(?:[^\\w]|$)`,
    flags: 'i',
  }),
  exact: (_scorer, { id, targets }, losses) => {
    losses.changed(id, 'exact(): compares words without articles there, letters here');
    return { kind: 'exact', expected: [...targets], ignore_case: true };
  },
};

export const scorerNames = Object.keys(BY_NAME);

/** The grader that a scorer becomes for a sample; null: none, and that is noted. */
export function graderFor(scorer: Scorer, scored: Scored, losses: Losses): Grader | null {
  const make = Object.hasOwn(BY_NAME, scorer.name) ? BY_NAME[scorer.name] : undefined;
  if (make === undefined) {
    losses.dropped(scored.id, `the scorer ${scorer.name}: programs are not run here`);
    return null;
  }
  const grader = make(scorer, scored, losses);
  return grader === null ? null : usable(grader, scored.id, losses);
}
