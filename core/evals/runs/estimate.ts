// The most that the calls of a run can cost. The sum for one call is also what the run sets aside for it, and the cap that the
// gateway keeps it under.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { type Catalog, findModel } from '../../catalog/index.ts';
import { mostOfCall } from '../../inference/index.ts';
import type { Context, Environment, JsonObject } from '../../kernel/index.ts';
import { JUDGE_OUTPUT_TOKENS, judgeMessages } from '../grade/judge.ts';
import { bodyOf, caseDialect, messagesOf } from '../suites/check.ts';
import type { Case } from '../suites/types.ts';
import type { Run } from './types.ts';

/** Bytes of an answer that the estimate of a judge's call assumes: 1,024 tokens at three bytes. */
const ANSWER_BYTES = 3_072;

/** What a call with `body` is given; null where no endpoint can be tried. */
export function mostOfBody(
  catalog: Catalog,
  environment: Environment,
  { body, endpoint }: { body: JsonObject; endpoint: string },
): number | null {
  return mostOfCall(catalog, caseDialect(), { body, environment, endpoint_id: endpoint });
}

/** Whether `endpoint` serves `model`. */
export function servesModel(
  catalog: Catalog,
  environment: Environment,
  target: { model: string; endpoint: string },
): boolean {
  const endpoints = findModel(catalog, target.model, environment)?.endpoints ?? [];
  return endpoints.some(({ id }) => id === target.endpoint);
}

type Plan = Pick<Run, 'environment' | 'targets' | 'repeat' | 'judge_model' | 'judge_samples'>;

function mostOfJudge(context: Context, plan: Plan, { body }: Case): number {
  const { grader, input } = body;
  if (grader.kind !== 'judge') return 0;
  const output = 'x'.repeat(ANSWER_BYTES);
  const asked = {
    model: grader.model ?? plan.judge_model,
    messages: judgeMessages({ grader, messages: messagesOf(input), output, delimiter: '0'.repeat(16) }),
    generation: { max_tokens: JUDGE_OUTPUT_TOKENS },
  };
  return (
    (mostOfBody(context.services.catalog(), plan.environment, { body: asked, endpoint: '' }) ?? 0) *
    plan.judge_samples
  );
}

/** Cases that are looked at before others who wait for this thread get their turn. */
const SLICE = 20;

/** The most that `cases` can cost for all targets and repeats of a run. */
export async function estimateOf(context: Context, plan: Plan, cases: readonly Case[]): Promise<number> {
  let sum = 0;
  for (const [i, one] of cases.entries()) {
    if (i % SLICE === 0) await othersTurn();
    const judge = mostOfJudge(context, plan, one);
    const { input } = one.body;
    for (const { model, endpoint } of plan.targets) {
      const body = bodyOf(input, model === '' ? (input.model ?? '') : model);
      const most = mostOfBody(context.services.catalog(), plan.environment, { body, endpoint }) ?? 0;
      sum += (most + judge) * plan.repeat;
    }
  }
  return sum;
}
