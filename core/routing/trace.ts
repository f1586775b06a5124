// The route of a call: as structure, which is what is stored and shown, and in one line for a header
// (docs/routing.md#the-trace).
import { type Static, Type } from 'typebox';
import { nullable, oneOf } from '../kernel/index.ts';
import { armNames } from '../policies/index.ts';
import { arms } from './canary.ts';
import type { RoutePlan } from './types.ts';

/** Exclusions that a route lists one by one; the others are counted. Each takes about 60 bytes of its row. */
const EXCLUDED_MAX = 500;

const Count = Type.Integer({ minimum: 0 });

export const RouteAttempt = Type.Object({
  endpoint_id: Type.String(),
  outcome: Type.String({ description: 'outcome of the attempt, or the class of the fault' }),
  http_status: Count,
  ms: Type.Integer({ minimum: 0, description: 'to the first event' }),
});
export type RouteAttempt = Static<typeof RouteAttempt>;

export const readOnReasons = ['billed_whole', 'idempotency_key', 'whole_answer'] as const;

const RouteLeft = Type.Object(
  {
    ms: Type.Integer({ minimum: 0, description: 'from the beginning of the call' }),
    read_on: nullable(oneOf(readOnReasons)),
  },
  {
    description:
      'When the caller left; `read_on`: why the provider was read to its end, null where the attempt ended too',
  },
);
export type RouteLeft = Static<typeof RouteLeft>;

const RouteCanary = Type.Object(
  {
    endpoint_id: Type.String({ description: 'the endpoint on trial' }),
    arm: oneOf(arms),
  },
  { description: 'The side of a canary that the call was put on; absent: it took part in none' },
);

const RouteExperiment = Type.Object(
  {
    name: Type.String(),
    arm: oneOf(armNames),
    bucket: Type.Integer({ minimum: 0, maximum: 9_999, description: 'what was drawn for the call' }),
  },
  { description: 'The arm of an experiment that the call was put in; absent: it took part in none' },
);

export const Route = Type.Object(
  {
    policy: Type.String({ description: '`default` for the built-in policy' }),
    version: nullable(Type.Integer({ description: 'of the policy; null for the built-in one' })),
    rule: Type.String({ description: 'names of the rules that matched; `-` where none did' }),
    sort: Type.String(),
    affinity: oneOf(['hit', 'miss', '-']),
    canary: Type.Optional(RouteCanary),
    experiment: Type.Optional(RouteExperiment),
    catalog: Type.String({ description: 'version of the catalog that it was decided by' }),
    candidates: Type.Integer({ minimum: 0, description: 'endpoints that serve the model' }),
    plan: Type.Array(Type.Object({ endpoint_id: Type.String(), score: Type.Number() })),
    excluded: Type.Array(Type.Object({ endpoint_id: Type.String(), reason: Type.String() }), {
      description: `in order of the filters, at most ${EXCLUDED_MAX}`,
    }),
    excluded_hidden: Type.Integer({ minimum: 0, description: 'exclusions beyond those listed' }),
    attempts: nullable(
      Type.Array(RouteAttempt, { description: 'those that have ended; null: none was to be made' }),
    ),
    winner: nullable(Type.String({ description: 'endpoint that answered' })),
    reserve_micro: Type.Integer({ minimum: 0, description: 'micro-USD that were held' }),
    left: Type.Optional(RouteLeft),
  },
  { description: 'Why a call went where it went.' },
);
export type Route = Static<typeof Route>;

/** What was decided before the first attempt; a refusal has no plan. */
export interface Decided {
  readonly route: Pick<
    RoutePlan,
    'plan' | 'spare' | 'excluded' | 'sort' | 'affinity' | 'policy' | 'canary' | 'experiment'
  >;
  readonly catalog: string;
  readonly reserve_micro_usd: number;
}

/** The route of a call; `attempts` null where none is to be made. */
export function routeOf(
  { route, catalog, reserve_micro_usd }: Decided,
  made: {
    readonly attempts: readonly RouteAttempt[] | null;
    readonly winner: string | null;
    readonly left?: RouteLeft | null;
  },
): Route {
  const { plan, spare, excluded, sort, affinity, policy, canary, experiment } = route;
  return {
    policy: policy?.name ?? 'default',
    version: policy?.version ?? null,
    rule: policy?.rule ?? '-',
    sort,
    affinity: affinity?.state ?? '-',
    ...(canary === undefined ? {} : { canary }),
    ...(experiment === undefined ? {} : { experiment }),
    catalog,
    candidates: plan.length + spare.length + excluded.length,
    plan: plan.map(({ endpoint, score }) => ({ endpoint_id: endpoint.id, score: Number(score.toFixed(3)) })),
    excluded: excluded.slice(0, EXCLUDED_MAX).map(({ endpoint_id, reason }) => ({ endpoint_id, reason })),
    excluded_hidden: Math.max(0, excluded.length - EXCLUDED_MAX),
    attempts: made.attempts === null ? null : [...made.attempts],
    winner: made.winner,
    reserve_micro: reserve_micro_usd,
    ...(made.left ? { left: made.left } : {}),
  };
}

const BYTES_MAX = 1_024;
/** More items than this never fit: each has at least 8 bytes. */
const ITEMS_MAX = 128;

/** A list that can be cut from its end; says how many items are not shown. */
class Cut {
  shown: number;
  private readonly total: number;
  private readonly items: readonly string[];
  /** Bytes of the first n items with their commas. */
  private readonly bytes: number[] = [0];

  constructor(items: readonly string[], total: number) {
    this.items = items;
    this.total = total;
    this.shown = items.length;
    for (const item of items) this.bytes.push((this.bytes.at(-1) as number) + item.length + 1);
  }

  get length(): number {
    if (this.total === 0) return 1;
    const shown = this.bytes[this.shown] as number;
    const hidden = this.total - this.shown;
    return hidden === 0 ? shown - 1 : shown + 1 + String(hidden).length;
  }

  text(): string {
    if (this.total === 0) return '-';
    const shown = this.items.slice(0, this.shown).join(',');
    const hidden = this.total - this.shown;
    if (hidden === 0) return shown;
    return shown === '' ? `+${hidden}` : `${shown},+${hidden}`;
  }
}

/** Makes an item of each of the first of `list`; the others, and `hidden` more, are only counted. */
function cut<T>(list: readonly T[], item: (one: T) => string, hidden = 0): Cut {
  const first = list.length > ITEMS_MAX ? list.slice(0, ITEMS_MAX) : list;
  return new Cut(first.map(item), list.length + hidden);
}

const CLEAN = /^[A-Za-z0-9._/-]{1,100}$/;

/** Only what cannot be taken for a separator; policy and rule names are short by their grammar. */
function word(value: string): string {
  if (CLEAN.test(value)) return value;
  const clean = value.replaceAll(/[^A-Za-z0-9._/-]/g, '_').slice(0, 100);
  return clean === '' ? '-' : clean;
}

function attemptText({ endpoint_id, outcome, http_status, ms }: RouteAttempt): string {
  return `${endpoint_id}:${word(outcome)}:${http_status}:${ms}`;
}

/**
 * `route` in one line for a header: stable fields in a stable order, ASCII, at most 1,024 bytes: the longest list is cut
 * first and ends `+N`.
 */
export function routeLine(route: Route): string {
  const drop = cut(route.excluded, (item) => `${item.endpoint_id}:${item.reason}`, route.excluded_hidden);
  const plan = cut(route.plan, (item) => `${item.endpoint_id}:${item.score.toFixed(3)}`);
  const tries = cut(route.attempts ?? [], attemptText);
  const policy = route.version === null ? route.policy : `${route.policy}/${route.version}`;
  const { experiment } = route;
  const arm = experiment === undefined ? '-' : word(`${experiment.name}/${experiment.arm}`);
  const head =
    `v1; policy=${word(policy)}; rule=${word(route.rule)}; sort=${route.sort}; arm=${arm}; ` +
    `canary=${route.canary?.arm === 'canary' ? 1 : 0}; aff=${route.affinity}; cand=${route.candidates}; drop=`;
  const win = route.attempts === null ? '' : `; win=${route.winner ?? '-'}`;
  const tail = `${win}; reserve=${route.reserve_micro}`;
  const fixed =
    head.length + '; plan='.length + (route.attempts === null ? 0 : '; try='.length) + tail.length;
  const tooLong = () =>
    fixed + drop.length + plan.length + (route.attempts === null ? 0 : tries.length) > BYTES_MAX;
  while (tooLong()) {
    const longest = [drop, plan, tries].reduce((a, b) => (b.shown > a.shown ? b : a));
    if (longest.shown === 0) break;
    longest.shown--;
  }
  const tried = route.attempts === null ? '' : `; try=${tries.text()}`;
  return `${head}${drop.text()}; plan=${plan.text()}${tried}${tail}`;
}
