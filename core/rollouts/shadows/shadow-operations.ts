// What the shadows of a policy showed.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, operation, orgCaller } from '../../kernel/index.ts';
import { listShadows, type PlannedShadow, SHARES, shadowBills } from '../../policies/index.ts';
import { hoursBefore, hoursInput, readers } from '../window.ts';
import { readSums, type ShadowSums } from './shadow-store.ts';

const Ttft = (of: string) =>
  nullable(
    Type.Number({
      description: `mean time to the first token of ${of}, of runs in which both had one; null without`,
    }),
  );

export const Shadow = named(
  'PolicyShadow',
  Type.Object({
    shadow_endpoint: idOf('endpoint'),
    primary_endpoint: nullable(idOf('endpoint')),
    policy_version: Type.Integer(),
    active: Type.Boolean({ description: 'its version rules calls now' }),
    percent: Type.Number({ description: 'of the calls that are copied' }),
    max_per_day: nullable(Type.Integer({ description: 'copies in a day (UTC); null: no limit' })),
    bill: oneOf(shadowBills, 'PolicyShadowBill'),
    runs: Type.Integer({ description: 'copies that were sent' }),
    errors: Type.Integer({ description: 'of those: were not answered' }),
    stop_mismatch: Type.Integer({
      description: 'of those that were answered: ended for another reason than the call',
    }),
    primary_cost_micro: Type.Integer({ description: 'price of the calls whose copies were answered' }),
    shadow_cost_micro: Type.Integer({ description: 'price of these copies' }),
    cost_delta_micro: Type.Integer({ description: 'shadow less primary: below zero it is cheaper' }),
    primary_ttft_ms: Ttft('the calls'),
    shadow_ttft_ms: Ttft('the copies'),
  }),
);
export type Shadow = Static<typeof Shadow>;

const NONE = {
  primary_endpoint: null,
  ...{ runs: 0, errors: 0, stop_mismatch: 0, primary_cost_micro: 0, shadow_cost_micro: 0 },
  ...{ primary_ttft_ms: null, shadow_ttft_ms: null },
} as const;

function view({ plan, version, scopes }: PlannedShadow, sums: ShadowSums | typeof NONE): Shadow {
  const { endpoint_id, share, max_per_day } = plan;
  const bill = 'bill' in sums ? sums.bill : plan.bill;
  const { primary_cost_micro, shadow_cost_micro, primary_endpoint, ...counts } = sums;
  const { runs, errors, stop_mismatch, primary_ttft_ms, shadow_ttft_ms } = counts;
  return {
    shadow_endpoint: endpoint_id as Shadow['shadow_endpoint'],
    primary_endpoint: primary_endpoint as Shadow['primary_endpoint'],
    ...{ policy_version: version, active: scopes.length > 0, percent: (share / SHARES) * 100 },
    ...{ max_per_day, bill, runs, errors, stop_mismatch, primary_cost_micro, shadow_cost_micro },
    cost_delta_micro: shadow_cost_micro - primary_cost_micro,
    ...{ primary_ttft_ms, shadow_ttft_ms },
  };
}

/** Versions that were never activated showed nothing, and are left out. */
function viewsOf(shadow: PlannedShadow, all: readonly ShadowSums[]): Shadow[] {
  const { plan, version, scopes } = shadow;
  const own = all.filter((sums) => sums.version === version && sums.shadow_endpoint === plan.endpoint_id);
  if (own.length > 0) return own.map((sums) => view(shadow, sums));
  return scopes.length === 0 ? [] : [view(shadow, NONE)];
}

const example: Shadow = {
  shadow_endpoint: 'ep_0000000000000000000000000B',
  primary_endpoint: 'ep_0000000000000000000000000A',
  ...{ policy_version: 4, active: true, percent: 1, max_per_day: 500, bill: shadowBills[0] },
  ...{ runs: 412, errors: 3, stop_mismatch: 9, primary_cost_micro: 812_400, shadow_cost_micro: 390_100 },
  ...{ cost_delta_micro: -422_300, primary_ttft_ms: 412.5, shadow_ttft_ms: 301.2 },
};

export const listShadowsOperation = operation({
  name: 'policies.shadows',
  method: 'GET',
  path: '/v1/policies/:name/shadows',
  summary: 'Compare the shadows of a policy with the calls that they copied',
  audience: readers,
  input: Type.Object({
    name: Type.String(),
    hours: hoursInput,
  }),
  output: named(
    'PolicyShadowList',
    Type.Object({ object: Type.Literal('list'), hours: Type.Integer(), data: Type.Array(Shadow) }),
  ),
  errors: [],
  example: { object: 'list', hours: 24, data: [example] },
  async run(context, { name, hours = 24 }) {
    const { org_id, environment } = orgCaller(context);
    const planned = await listShadows(context, name);
    const since = hoursBefore(context.now(), hours);
    const sums = await readSums(context.db, { org_id, environment, name }, since);
    return { object: 'list' as const, hours, data: planned.flatMap((shadow) => viewsOf(shadow, sums)) };
  },
});
