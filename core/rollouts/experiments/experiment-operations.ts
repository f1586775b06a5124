// What became of the experiments of a policy.
import { type Static, Type } from 'typebox';
import { type Context, named, nullable, oneOf, operation, orgCaller } from '../../kernel/index.ts';
import { armNames, listExperiments, type PlannedExperiment, SHARES } from '../../policies/index.ts';
import { hoursBefore, hoursInput, readers } from '../window.ts';
import { type Comparison, compareArms, type Moments, sampleRatioP, tooLittle } from './comparison.ts';
import {
  type ArmHours,
  type ArmMoments,
  type ExperimentOf,
  type Metric,
  metrics,
  readHours,
  readMoments,
  TTFT_BIN_RATIO,
} from './experiment-store.ts';

export const experimentDecisions = ['better', 'worse', 'cannot_tell'] as const;
export { metrics as experimentMetrics };

/** A split that chance makes less often than this is none of chance's, and nothing is read from it. */
const RATIO_P_MIN = 0.001;

const Figure = (description: string) => nullable(Type.Number({ description }));

export const ExperimentArm = named(
  'PolicyExperimentArm',
  Type.Object({
    experiment: Type.String(),
    version: Type.Integer({ description: 'of the policy' }),
    active: Type.Boolean({ description: 'whether that version rules any calls' }),
    arm: oneOf(armNames, 'PolicyExperimentArmName'),
    percent: Type.Number({ description: 'of the calls' }),
    requests: Type.Integer({ description: 'in the last `hours`, as are the figures up to `output_tokens`' }),
    errors: Type.Integer(),
    cost_micro: Type.Integer(),
    ttft_p50_ms: Figure('within 3 %; null: no first token was seen'),
    ttft_p95_ms: Figure('within 3 %'),
    output_tokens: Type.Integer(),
    metric: oneOf(metrics, 'PolicyExperimentMetric'),
    samples: Type.Integer({ description: 'calls since the version began' }),
    mean: Figure('of the metric for each of them; null without calls'),
    estimate: Figure('candidate less control; null for the control, and while too little was seen'),
    low: Figure('of the interval that misses the difference with a probability of 5 % at most, ever'),
    high: Figure('its other end'),
    srm_p: Figure('how likely chance alone ever makes a split this uneven; small: do not trust it'),
    decision: nullable(oneOf(experimentDecisions, 'PolicyExperimentDecision')),
    reason: Type.String({ description: 'why it cannot be told; empty otherwise' }),
  }),
);
export type ExperimentArm = Static<typeof ExperimentArm>;

type Hours = Pick<
  ExperimentArm,
  'requests' | 'errors' | 'cost_micro' | 'output_tokens' | 'ttft_p50_ms' | 'ttft_p95_ms'
>;

/** The time within which `share` of the calls of `rows`, shortest first, had their first token. */
function quantile(rows: readonly ArmHours[], share: number): number | null {
  const seen = rows.filter(({ ttft_bin }) => ttft_bin >= 0);
  let left = share * seen.reduce((sum, { requests }) => sum + requests, 0);
  for (const { ttft_bin, requests } of seen) {
    left -= requests;
    if (left <= 0) return Number((TTFT_BIN_RATIO ** ttft_bin).toPrecision(3));
  }
  return null;
}

function hoursOf(rows: readonly ArmHours[]): Hours {
  const total = (key: 'requests' | 'errors' | 'cost_micro' | 'output_tokens') =>
    rows.reduce((sum, row) => sum + row[key], 0);
  return {
    ...{ requests: total('requests'), errors: total('errors'), cost_micro: total('cost_micro') },
    ...{ output_tokens: total('output_tokens') },
    ...{ ttft_p50_ms: quantile(rows, 0.5), ttft_p95_ms: quantile(rows, 0.95) },
  };
}

type Judged = Pick<ExperimentArm, 'estimate' | 'low' | 'high' | 'srm_p' | 'decision' | 'reason'>;

/** Less is better in every metric. */
function decisionOf({ low, high }: Comparison): (typeof experimentDecisions)[number] {
  if (high < 0) return 'better';
  return low > 0 ? 'worse' : 'cannot_tell';
}

function judge(control: Moments, candidate: Moments, srm_p: number | null): Judged {
  const found = compareArms(control, candidate);
  const { estimate, low, high } = found ?? { estimate: null, low: null, high: null };
  const figures = { estimate, low, high, srm_p };
  if (found === null) {
    return { ...figures, decision: 'cannot_tell', reason: tooLittle(control, candidate) };
  }
  if (srm_p !== null && srm_p <= RATIO_P_MIN) {
    const reason = 'the calls are not split as the policy says, so that the arms are not comparable';
    return { ...figures, decision: 'cannot_tell', reason };
  }
  const decision = decisionOf(found);
  return { ...figures, decision, reason: decision === 'cannot_tell' ? 'no difference shows' : '' };
}

const NONE: Moments = { calls: 0, sum: 0, calls_squared: 0, sum_squared: 0, calls_by_sum: 0 };
const UNJUDGED: Judged = { estimate: null, low: null, high: null, srm_p: null, decision: null, reason: '' };

interface Seen {
  readonly moments: readonly ArmMoments[];
  /** Of calls, whatever is compared: the split is theirs. */
  readonly drawn: readonly ArmMoments[];
  readonly hours: readonly ArmHours[];
}

function view({ plan, version, scopes }: PlannedExperiment, metric: Metric, seen: Seen): ExperimentArm[] {
  const of = (name: string) => (row: Pick<ArmMoments, 'version' | 'experiment' | 'arm'>) =>
    row.version === version && row.experiment === plan.name && row.arm === name;
  const momentsOf = (rows: readonly ArmMoments[], name: string) => rows.find(of(name)) ?? NONE;
  return plan.arms.map(({ name, share }) => {
    const moments = momentsOf(seen.moments, name);
    const { calls, sum } = moments;
    let judged = UNJUDGED;
    if (name === 'candidate') {
      const srm_p = sampleRatioP(momentsOf(seen.drawn, 'control'), momentsOf(seen.drawn, name), share);
      judged = judge(momentsOf(seen.moments, 'control'), moments, srm_p);
    }
    return {
      ...{ experiment: plan.name, version, active: scopes.length > 0, arm: name },
      percent: (share / SHARES) * 100,
      ...hoursOf(seen.hours.filter(of(name))),
      ...{ metric, samples: calls, mean: calls === 0 ? null : sum / calls },
      ...judged,
    };
  });
}

async function read(context: Context, name: string, metric: Metric, hours: number): Promise<Seen> {
  const { org_id, environment } = orgCaller(context);
  const of: ExperimentOf = { org_id, environment, name };
  const since = hoursBefore(context.now(), hours);
  const drawn = await readMoments(context.db, of, 'error_rate');
  const moments = metric === 'error_rate' ? drawn : await readMoments(context.db, of, metric);
  return { moments, drawn, hours: await readHours(context.db, of, since) };
}

const arm = { experiment: 'cheaper', version: 4, active: true, metric: metrics[0], reason: '' } as const;
const example: ExperimentArm[] = [
  {
    ...{
      ...arm,
      ...UNJUDGED,
      arm: 'control',
      percent: 50,
      requests: 9_012,
      errors: 181,
      cost_micro: 9_102_400,
    },
    ...{ ttft_p50_ms: 412, ttft_p95_ms: 1_240, output_tokens: 3_104_233, samples: 9_012, mean: 0.0201 },
  },
  {
    ...{ ...arm, arm: 'candidate', percent: 50, requests: 8_940, errors: 178, cost_micro: 5_210_900 },
    ...{ ttft_p50_ms: 301, ttft_p95_ms: 980, output_tokens: 3_090_127, samples: 8_940, mean: 0.0199 },
    ...{ estimate: -0.0002, low: -0.0069, high: 0.0065, srm_p: 1, decision: 'cannot_tell' },
    reason: 'no difference shows',
  },
];

export const listExperimentsOperation = operation({
  name: 'policies.experiments',
  method: 'GET',
  path: '/v1/policies/:name/experiments',
  summary: 'Compare the arms of the experiments of a policy',
  audience: readers,
  input: Type.Object({
    name: Type.String(),
    hours: hoursInput,
    metric: Type.Optional(oneOf(metrics, 'PolicyExperimentMetric')),
  }),
  output: named(
    'PolicyExperimentArmList',
    Type.Object({ object: Type.Literal('list'), hours: Type.Integer(), data: Type.Array(ExperimentArm) }),
  ),
  errors: [],
  example: { object: 'list', hours: 24, data: example },
  async run(context, { name, hours = 24, metric = metrics[0] }) {
    const planned = await listExperiments(context, name);
    const seen = await read(context, name, metric, hours);
    const data = planned
      .flatMap((experiment) => view(experiment, metric, seen))
      // Versions that were never activated showed nothing.
      .filter(({ active, experiment, version }) => {
        const shown = (row: ArmMoments) => row.version === version && row.experiment === experiment;
        return active || seen.drawn.some(shown);
      });
    return { object: 'list' as const, hours, data };
  },
});
