// Testing criteria of OpenAI's hosted evals, as graders.
// @see https://platform.openai.com/docs/guides/graders
import type { Grader } from '@svc/core/evals/index.ts';
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { gradeFrom, judge, usable, yesOrNo } from './graders.ts';
import type { Losses } from './losses.ts';
import { readMessages } from './messages.ts';
import { fill, onlyPlaceholder } from './template.ts';

/** What a criterion reads the answer from. */
const OUTPUT = 'sample.output_text';
const ANSWER_WORDS = '(the answer that you grade)';
const SCALE = 10;

interface Row {
  readonly place: string;
  readonly item: unknown;
}

/** A text of a criterion, filled from a row; null: it needs something that a case does not have. */
function filled(text: unknown, { place, item }: Row, losses: Losses, type: string): string | null {
  if (typeof text !== 'string') {
    losses.dropped(place, `${type} without its text`);
    return null;
  }
  const answer = { output_text: ANSWER_WORDS };
  const { text: whole, missing } = fill(text, { item, sample: answer });
  if (missing.length === 0) return whole;
  losses.dropped(place, `${type} that reads {{${missing[0]}}}, which no case has`);
  return null;
}

function stringCheck(one: JsonObject, row: Row, losses: Losses): Grader | null {
  const { input, reference, operation } = one;
  const type = `string_check ${String(operation)}`;
  const texts = [input, reference].map(String);
  const place = texts.findIndex((text) => onlyPlaceholder(text) === OUTPUT);
  // Whether two texts are equal does not depend on which is named first; whether one holds the other does.
  if (place === -1 || (place === 1 && operation !== 'eq')) {
    losses.dropped(row.place, `${type} that does not look at the whole answer`);
    return null;
  }
  const expected = filled(texts[1 - place], row, losses, type);
  if (expected === null) return null;
  if (operation === 'eq') return { kind: 'exact', expected, trim: false };
  if (operation === 'like') return { kind: 'contains', expected };
  if (operation === 'ilike') return { kind: 'contains', expected, ignore_case: true };
  losses.dropped(row.place, `${type}: there is no grader that passes when texts differ`);
  return null;
}

function similarity(one: JsonObject, row: Row, losses: Losses): Grader | null {
  const type = `text_similarity ${String(one['evaluation_metric'])}`;
  const { input, reference } = one;
  if (onlyPlaceholder(String(input)) !== OUTPUT) {
    losses.dropped(row.place, `${type} that does not look at the whole answer`);
    return null;
  }
  const wanted = filled(reference, row, losses, type);
  if (wanted === null) return null;
  losses.changed(row.place, `${type}: a judge grades likeness in place of the metric`);
  const threshold = gradeFrom(Number(one['pass_threshold'] ?? 0.8), SCALE);
  const rubric = `How much the answer is like the reference in wording and meaning: ${SCALE} is the same, 1 is unlike.`;
  return judge(rubric, { reference: wanted, scale: SCALE, threshold });
}

/** What the messages of a model grader ask, as a rubric. */
function rubricOf(one: JsonObject, row: Row, losses: Losses): string | null {
  const type = String(one['type']);
  const messages = readMessages(one['input']);
  if (typeof messages === 'string') {
    losses.dropped(row.place, `${type} with ${messages}`);
    return null;
  }
  const texts = messages.map(({ content }) => filled(content, row, losses, type));
  if (texts.includes(null)) return null;
  const model = one['model'];
  if (typeof model === 'string') losses.changed(row.place, `${type} by ${model}: name the judge in the run`);
  return texts.join('\n\n');
}

function labelModel(one: JsonObject, row: Row, losses: Losses): Grader | null {
  const rubric = rubricOf(one, row, losses);
  if (rubric === null) return null;
  const list = (value: unknown) => (Array.isArray(value) ? value.map((label) => JSON.stringify(label)) : []);
  const labels = list(one['labels']).join(', ');
  const passing = list(one['passing_labels']).join(' or ');
  return yesOrNo(`${rubric}\n\nChoose one label of ${labels}. What must hold: the label is ${passing}.`);
}

function scoreModel(one: JsonObject, row: Row, losses: Losses): Grader | null {
  const rubric = rubricOf(one, row, losses);
  if (rubric === null) return null;
  const [low, high] = (Array.isArray(one['range']) ? one['range'] : [0, 1]).map(Number) as [number, number];
  const share = (Number(one['pass_threshold'] ?? high) - low) / (high - low);
  if (!(high > low) || Number.isNaN(share)) {
    losses.dropped(row.place, 'score_model whose range is none');
    return null;
  }
  const steps = high - low + 1;
  const scale =
    Number.isInteger(low) && Number.isInteger(steps) && steps > 2 && steps <= SCALE ? steps : SCALE;
  if (low !== 1 || high !== scale)
    losses.changed(row.place, `score_model of ${low} to ${high}: graded 1 to ${scale}`);
  const said = `Where this asks for a score from ${low} to ${high}, let 1 stand for ${low} and ${scale} for ${high}.`;
  return judge(`${rubric}\n\n${said}`, { scale, threshold: gradeFrom(share, scale) });
}

const BY_TYPE: Readonly<Record<string, (one: JsonObject, row: Row, losses: Losses) => Grader | null>> = {
  string_check: stringCheck,
  text_similarity: similarity,
  label_model: labelModel,
  score_model: scoreModel,
};

/** The graders that `criteria` become for a row; what cannot be one is noted. */
export function gradersOf(criteria: readonly unknown[], row: Row, losses: Losses): Grader[] {
  return criteria.flatMap((one) => {
    const type = isObject(one) ? String(one['type']) : 'no object';
    const make = BY_TYPE[type];
    if (make === undefined || !isObject(one)) {
      losses.dropped(row.place, `${type}: programs are not run here, and there is no such grader`);
      return [];
    }
    const grader = make(one, row, losses);
    const kept = grader === null ? null : usable(grader, row.place, losses);
    return kept === null ? [] : [kept];
  });
}
