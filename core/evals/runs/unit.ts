// One answer of a run: the call of its case, and the grade of what it says.
import { catalogOfOrg } from '../../catalog/index.ts';
import { type Context, type JsonObject, sha256Hex } from '../../kernel/index.ts';
import { gradeText, normalText, TEXT_MAX } from '../grade/grade.ts';
import { JUDGE_OUTPUT_TOKENS, judgeMessages, judgeSchema, judgeVerdict } from '../grade/judge.ts';
import type { Grader, Verdict } from '../grade/types.ts';
import { wilson } from '../stats/stats.ts';
import { bodyOf, messagesOf } from '../suites/check.ts';
import type { Case } from '../suites/types.ts';
import { type Made, makeCall, markOf } from './call.ts';
import { mostOfBody } from './estimate.ts';
import type { Answered } from './gateway.ts';
import type { Reserves } from './reserves.ts';
import type { Result, Run, Target, Unit } from './types.ts';

export interface UnitWork {
  readonly run: Run;
  readonly unit: Unit;
  readonly of: Case;
}

/** Why a call was not made for want of money; its answer is skipped, not wrong. */
const NO_MONEY: readonly string[] = [
  'insufficient_credits',
  'budget_exhausted',
  'payment_hold',
  'above_budget',
];
/** The most samples of one judge; the second call of sample n is call n + 9 of the unit. */
const SAMPLES_MAX = 9;
type Stopped = 'stopped';
/** A unit for which the run has no call any more leaves no result here: what is missing at the end is skipped. */
export type Outcome = Result | Stopped;

interface Graded {
  readonly status: Result['status'];
  readonly score: number;
  readonly grades: number;
  readonly grades_passed: number;
  readonly grader_detail: Verdict['detail'];
  readonly error_code: string;
  readonly cost_micro: number;
  readonly judge_request_ids: readonly string[];
}

/** What every call of a run says about itself, and where it may go. */
function withOptions(run: Run, body: JsonObject, endpoint: string): JsonObject {
  return {
    ...body,
    app: 'svc-evals',
    metadata: { eval_run: run.id },
    ...(endpoint === '' ? {} : { route: { endpoints: { only: [endpoint] } } }),
  };
}

function targetOf({ run, unit }: UnitWork): Target {
  return run.targets[unit.target_no] as Target;
}

/** The body of the call of a unit. */
function caseBody(work: UnitWork): JsonObject {
  const { model, endpoint } = targetOf(work);
  const { input } = work.of.body;
  return withOptions(work.run, bodyOf(input, model === '' ? (input.model ?? '') : model), endpoint);
}

function judgeBody(context: Context, work: UnitWork, sample: number, output: string): JsonObject {
  const { run, unit, of } = work;
  const { grader, input } = of.body;
  const model = grader.model ?? run.judge_model;
  const place = { run_id: run.id, unit_no: unit.unit_no, sample };
  const delimiter = markOf(context, 'delimiters', place).slice(0, 16);
  const endpoints = context.services.catalog().models.get(model)?.endpoints ?? [];
  const held = endpoints.length > 0 && endpoints.every(({ capabilities }) => capabilities.json_schema);
  const schema = { type: 'json_schema', name: 'grade', schema: judgeSchema(grader) };
  const body = {
    model,
    messages: judgeMessages({ grader, messages: messagesOf(input), output, delimiter }),
    // Of several samples each is drawn anew; at 0 they would be one grade told several times.
    generation: { max_tokens: JUDGE_OUTPUT_TOKENS, temperature: run.judge_samples === 1 ? 0 : 1 },
    ...(held ? { output: { format: schema } } : {}),
  };
  return withOptions(run, body, '');
}

/** Reads the most that a call can cost in the catalog of the run's organization. */
function mostFor(context: Context, run: Run, call: { body: JsonObject; endpoint: string }) {
  return async () => mostOfBody(await catalogOfOrg(context, run.org_id), run.environment, call);
}

const nothingGraded = { score: 0, grades: 0, grades_passed: 0, judge_request_ids: [] };

function failure(code: string, cost_micro = 0): Graded {
  return { ...nothingGraded, status: 'error', grader_detail: {}, error_code: code, cost_micro };
}

function gradedBy(grader: Grader, text: string): Graded {
  const { passed, score, detail } = gradeText(grader, text);
  return {
    ...{ status: passed ? 'passed' : 'failed', score, grades: 1, grades_passed: Number(passed) },
    ...{ grader_detail: detail, error_code: '', cost_micro: 0, judge_request_ids: [] },
  };
}

interface Samples {
  readonly verdicts: Verdict[];
  readonly request_ids: string[];
  cost_micro: number;
}

/** All samples of a judge as one grade: passed when most of them pass, the score is their mean. */
function summedUp({ verdicts, request_ids, cost_micro }: Samples): Graded {
  const of = verdicts.length;
  const passing = verdicts.filter(({ passed }) => passed).length;
  const { low, high } = wilson(passing, of);
  const samples = verdicts.map(({ detail }) => detail);
  return {
    status: passing * 2 > of ? 'passed' : 'failed',
    score: verdicts.reduce((sum, { score }) => sum + score, 0) / of,
    ...{ grades: of, grades_passed: passing, error_code: '', cost_micro, judge_request_ids: request_ids },
    grader_detail: { samples, pass_rate: passing / of, pass_low: low, pass_high: high },
  };
}

async function judged(context: Context, work: UnitWork, reserves: Reserves, text: string): Promise<Graded> {
  const samples: Samples = { verdicts: [], request_ids: [], cost_micro: 0 };
  if (text.length > TEXT_MAX) return failure('answer_too_long');
  for (let sample = 1; sample <= work.run.judge_samples; sample++) {
    let verdict = await askJudge(context, { work, sample, text, samples }, reserves);
    // Models slip: one that gave no grade is asked once more, in a call of its own.
    if (verdict === null)
      verdict = await askJudge(context, { work, sample: sample + SAMPLES_MAX, text, samples }, reserves);
    if (verdict === null)
      return { ...failure('judge_unreadable', samples.cost_micro), judge_request_ids: samples.request_ids };
    if ('status' in verdict) return verdict;
    samples.verdicts.push(verdict);
  }
  return summedUp(samples);
}

/** The grade that a judge gives; null when its answer is none; how the unit ends where the judge did not answer. */
async function askJudge(
  context: Context,
  { work, sample, text, samples }: { work: UnitWork; sample: number; text: string; samples: Samples },
  reserves: Reserves,
): Promise<Verdict | Graded | null> {
  const { run, unit, of } = work;
  const body = judgeBody(context, work, sample, text);
  const most = mostFor(context, run, { body, endpoint: '' });
  const made = await makeCall(context, { run, unit_no: unit.unit_no, sample, body, most }, reserves);
  const left = notJudged(made, samples);
  if (left !== null) return left;
  const { answer } = made as Extract<Made, { status: 'answered' }>;
  samples.cost_micro += answer.cost_micro;
  samples.request_ids.push(answer.request_id);
  return judgeVerdict(of.body.grader, answer.text);
}

function notJudged(made: Made, { cost_micro, request_ids }: Samples): Graded | null {
  if (made.status === 'answered') return null;
  const judge_request_ids = request_ids;
  if (made.status === 'failed')
    return { ...failure(made.code, cost_micro + made.cost_micro), judge_request_ids };
  const skipped = { ...nothingGraded, status: 'skipped' as const, grader_detail: {} };
  return { ...skipped, judge_request_ids, error_code: made.why, cost_micro };
}

function resultOf(context: Context, work: UnitWork, answer: Answered | null, graded: Graded): Result {
  const { run, unit, of } = work;
  const { grader, weight } = of.body;
  const { cost_micro, ...grade } = graded;
  const text = answer === null ? null : normalText(answer.text);
  const kept = run.outputs_until !== null && run.outputs_until.getTime() > context.now().getTime();
  return {
    ...unit,
    ...{ case_id: of.case_id, weight, grader_kind: grader.kind },
    ...grade,
    // What a grader found may be text of the answer.
    grader_detail: kept ? grade.grader_detail : {},
    output: kept ? text : null,
    output_hash: text === null ? '' : sha256Hex(text),
    request_id: answer?.request_id ?? '',
    usage: answer?.usage ?? null,
    cost_micro: cost_micro + (answer?.cost_micro ?? 0),
    ttft_ms: answer?.ttft_ms ?? null,
    duration_ms: answer?.duration_ms ?? null,
  };
}

/**
 * Has a unit answered and graded, going on where an earlier worker left it. @throws Error when the gateway does not
 * answer.
 */
export async function runUnit(context: Context, work: UnitWork, reserves: Reserves): Promise<Outcome> {
  const { run, unit, of } = work;
  const body = caseBody(work);
  const most = mostFor(context, run, { body, endpoint: targetOf(work).endpoint });
  const made = await makeCall(context, { run, unit_no: unit.unit_no, sample: 0, body, most }, reserves);
  if (made.status === 'not_begun') return 'stopped';
  if (made.status === 'failed') {
    const credit = NO_MONEY.includes(made.code);
    const graded = failure(made.code, made.cost_micro);
    return resultOf(context, work, null, credit ? { ...graded, status: 'skipped' } : graded);
  }
  const { answer } = made;
  const { grader } = of.body;
  const graded =
    grader.kind === 'judge'
      ? await judged(context, work, reserves, answer.text)
      : gradedBy(grader, answer.text);
  return resultOf(context, work, answer, graded);
}
