// What became of the canaries of a policy.
import { type Static, Type } from 'typebox';
import { idOf, listOf, named, nullable, oneOf, operation, orgCaller, Time } from '../kernel/index.ts';
import { canaryBreaches, listCanaries, type PlannedCanary, SHARES } from '../policies/index.ts';
import { type CanaryRow, listJudged } from './store.ts';
import { readers } from './window.ts';

export const canaryStates = ['pending', 'green', 'red', 'done'] as const;
const Rate = nullable(Type.Number({ description: 'share of the calls that failed; null without calls' }));

export const Canary = named(
  'PolicyCanary',
  Type.Object({
    version: Type.Integer(),
    endpoint_id: idOf('endpoint'),
    state: oneOf(canaryStates, 'PolicyCanaryState'),
    reason: Type.String({ description: 'why it is pending or red; empty otherwise' }),
    percent: Type.Number({
      description: 'of the calls that the endpoint gets now; 0 once it was rolled back',
    }),
    error_rate: Rate,
    samples: Type.Integer({ description: 'calls that were judged at the endpoint' }),
    control_error_rate: Rate,
    control_samples: Type.Integer({ description: 'calls at other endpoints that could have gone there' }),
    max_error_rate: nullable(Type.Number({ description: 'up to here it is never rolled back' })),
    min_samples: Type.Integer({ description: 'calls of either side before it can be green' }),
    min_effect: Type.Number(),
    alpha: Type.Number(),
    p_value: Type.Number({
      description:
        'how likely one as good as its control ever looks this bad, at most; red from `alpha` down',
    }),
    on_breach: oneOf(canaryBreaches, 'PolicyCanaryBreach'),
    evaluated_at: nullable(Time),
  }),
);
export type Canary = Static<typeof Canary>;

type Status = Pick<Canary, 'state' | 'reason'>;

/** Whether calls of both sides came within the canary's window. */
function hasTraffic({ canary_at, control_at }: CanaryRow, window_s: number, now: Date): boolean {
  return [canary_at, control_at].every(
    (at) => at !== null && now.getTime() - at.getTime() <= window_s * 1_000,
  );
}

/** No traffic is never good: it is pending. */
function statusOf({ plan, scopes }: PlannedCanary, row: CanaryRow | null, now: Date): Status {
  if (row?.state === 'red') return { state: 'red', reason: row.reason };
  if (scopes.length === 0) return { state: 'done', reason: '' };
  if (row === null || !hasTraffic(row, plan.window_s, now)) {
    return { state: 'pending', reason: `no calls of both sides in the last ${plan.window_s} s` };
  }
  const seen = Math.min(row.canary_calls, row.control_calls);
  if (seen >= plan.min_samples) return { state: 'green', reason: '' };
  return { state: 'pending', reason: `${seen} of ${plan.min_samples} calls of either side` };
}

function rateOf(errors: number, calls: number): number | null {
  return calls === 0 ? null : errors / calls;
}

function view(planned: PlannedCanary, row: CanaryRow | null, now: Date): Canary {
  const { plan, version } = planned;
  const none = { canary_calls: 0, canary_errors: 0, control_calls: 0, control_errors: 0 };
  const { canary_calls, canary_errors, control_calls, control_errors } = row ?? none;
  const status = statusOf(planned, row, now);
  const halted = status.state === 'red' && plan.on_breach !== 'alert';
  const { max_error_rate, min_samples, min_effect, alpha, on_breach, endpoint_id } = plan;
  return {
    ...{ version, endpoint_id: endpoint_id as Canary['endpoint_id'], ...status },
    percent: halted ? 0 : (plan.share / SHARES) * 100,
    error_rate: rateOf(canary_errors, canary_calls),
    samples: canary_calls,
    control_error_rate: rateOf(control_errors, control_calls),
    control_samples: control_calls,
    ...{ max_error_rate, min_samples, min_effect, alpha, p_value: row?.p_value ?? 1, on_breach },
    evaluated_at: row?.evaluated_at.toISOString() ?? null,
  };
}

const example: Canary = {
  ...{ version: 4, endpoint_id: 'ep_0000000000000000000000000B', state: 'green', reason: '' },
  ...{ percent: 5, error_rate: 0.0125, samples: 240, control_error_rate: 0.0117, control_samples: 4_610 },
  ...{ max_error_rate: null, min_samples: 200, min_effect: 0.02, alpha: 0.01, p_value: 1 },
  ...{ on_breach: canaryBreaches[0], evaluated_at: '2026-11-21T10:00:05.000Z' },
};

export const listCanariesOperation = operation({
  name: 'policies.canaries',
  method: 'GET',
  path: '/v1/policies/:name/canaries',
  summary: 'Show how the canaries of a policy do against the endpoints that they would replace',
  audience: readers,
  input: Type.Object({ name: Type.String() }),
  output: listOf(Canary),
  errors: [],
  example: { object: 'list', data: [example] },
  async run(context, { name }) {
    const planned = await listCanaries(context, name);
    const judged = await listJudged(context.db, orgCaller(context).org_id, name);
    const data = planned.flatMap((canary) => {
      const { plan, version, scopes } = canary;
      const of = (row: CanaryRow) => row.version === version && row.endpoint_id === plan.endpoint_id;
      const row = judged.find(of) ?? null;
      return row === null && scopes.length === 0 ? [] : [view(canary, row, context.now())];
    });
    return { object: 'list' as const, data };
  },
});
