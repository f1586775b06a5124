// Finding models: which of them match, and in which order.
import { type Static, Type } from 'typebox';
import { type Context, lineOf, oneOf } from '../../kernel/index.ts';
import { selectRepriced } from '../recent-store.ts';
import type { Model } from '../types.ts';
import { capabilitiesOf, lowestPrice, modelCapabilities, modelStatuses } from '../view.ts';
import { type Figures, figuresOf } from './figures.ts';

const WEEK_MS = 7 * 86_400_000;

export const modelModalities = ['text', 'image', 'audio', 'video', 'embedding', 'ranking'] as const;
export const modelSorts = ['name', 'price', 'latency', 'throughput', 'popularity', 'newest'] as const;

/** What a list of models is asked for. */
export const ModelSearch = Type.Object({
  vendor: Type.Optional(Type.String()),
  modality: Type.Optional(oneOf(modelModalities)),
  capability: Type.Optional(
    Type.Array(oneOf(modelCapabilities, 'ModelCapability'), { description: 'repeatable; all must match' }),
  ),
  zdr: Type.Optional(Type.Boolean()),
  no_train: Type.Optional(Type.Boolean()),
  new: Type.Optional(Type.Boolean({ description: 'released in the last 7 days' })),
  price_changed: Type.Optional(Type.Boolean({ description: 'in the last 7 days' })),
  status: Type.Optional(oneOf(modelStatuses, 'ModelStatus')),
  q: Type.Optional(lineOf(120, 0)),
  sort: Type.Optional(oneOf(modelSorts)),
});
export type ModelSearch = Static<typeof ModelSearch>;

/** A day that is announced has not come yet. */
function isWithinWeek(at_ms: number, now_ms: number): boolean {
  return at_ms <= now_ms && now_ms - at_ms < WEEK_MS;
}

function matches(
  model: Model,
  input: ModelSearch,
  now_ms: number,
  repriced: ReadonlySet<string> | null,
): boolean {
  const can = capabilitiesOf(model);
  const q = input.q?.toLowerCase();
  return (
    (input.vendor === undefined || model.vendor === input.vendor) &&
    (input.modality === undefined ||
      model.modalities.in.includes(input.modality) ||
      model.modalities.out.includes(input.modality)) &&
    (input.capability ?? []).every((capability) => can[capability]) &&
    (input.zdr !== true || can.zdr) &&
    (input.no_train !== true || can.no_train) &&
    (input.new !== true ||
      (model.released_at !== null && isWithinWeek(Date.parse(model.released_at), now_ms))) &&
    (repriced === null || model.endpoints.some((endpoint) => repriced.has(endpoint.id))) &&
    (input.status === undefined || model.status === input.status) &&
    (q === undefined || model.id.toLowerCase().includes(q) || model.name.toLowerCase().includes(q))
  );
}

function byName(a: Model, b: Model): number {
  return a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1);
}

const NEVER = '1970-01-01';

/** What a sort looks at, the best lowest; null comes last. */
function keyOf(sort: ModelSearch['sort'], figures: Figures): ((model: Model) => number | null) | null {
  const of = (model: Model) => figures.models.get(model.id);
  switch (sort) {
    case 'price':
      return (model) => lowestPrice(model).input + lowestPrice(model).output;
    case 'newest':
      return (model) => -Date.parse(model.released_at ?? NEVER);
    case 'latency':
      return (model) => of(model)?.ttft_p50_ms ?? null;
    case 'throughput':
      return (model) => of(model)?.tpot_p50_ms ?? null;
    case 'popularity':
      return (model) => {
        const requests = of(model)?.requests_7d ?? null;
        return requests === null ? null : -requests;
      };
    default:
      return null;
  }
}

/** By `sort`, and by name where it does not tell; models without the figure come last. */
function ordered(models: Model[], sort: ModelSearch['sort'], figures: Figures): Model[] {
  models.sort(byName);
  const key = keyOf(sort, figures);
  if (key === null) return models;
  const keys = new Map(models.map((model) => [model, key(model) ?? Number.POSITIVE_INFINITY]));
  const keyed = (model: Model) => keys.get(model) as number;
  return models.sort((a, b) => (keyed(a) === keyed(b) ? 0 : keyed(a) - keyed(b)));
}

/** Those of `models` that match `input`, in its order, with the figures that decided it. */
export async function searchModels(
  context: Context,
  models: ReadonlyMap<string, Model>,
  input: ModelSearch,
): Promise<{ models: Model[]; figures: Figures }> {
  const now_ms = context.now().getTime();
  const repriced =
    input.price_changed === true
      ? new Set(await selectRepriced(context.db, new Date(now_ms - WEEK_MS)))
      : null;
  const figures = await figuresOf(context);
  const found = [...models.values()].filter((model) => matches(model, input, now_ms, repriced));
  return { models: ordered(found, input.sort, figures), figures };
}
