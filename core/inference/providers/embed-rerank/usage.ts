// What providers of embeddings and rankings say that a call used (decisions 4.7.2 `embed_rerank`).
import { isObject, type JsonObject } from '../../../kernel/index.ts';
import type { RerankTask, Usage } from '../../canonical/types.ts';
import { estimatedUnits } from './search-units.ts';
import type { WireName } from './wires.ts';

/** Counts beyond this are no usage of one call; the metering record holds 32-bit integers. */
const COUNT_MAX = 2_147_483_647;

function usageWith(input_tokens: number, source: Usage['source']): Usage {
  return {
    input_tokens,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    source,
  };
}

function billedUnits(value: JsonObject): JsonObject {
  const meta = value['meta'];
  const billed = isObject(meta) ? meta['billed_units'] : undefined;
  return isObject(billed) ? billed : {};
}

/** The first of `values` that can be a count; what a broken server says instead counts as not told. */
function firstCount(...values: unknown[]): number | null {
  return values.find((value): value is number => Number.isInteger(value) && isSmall(value as number)) ?? null;
}

function isSmall(count: number): boolean {
  return count >= 0 && count <= COUNT_MAX;
}

function inputTokens(value: JsonObject): number | null {
  const usage = isObject(value['usage']) ? value['usage'] : {};
  const metadata = isObject(value['usageMetadata']) ? value['usageMetadata'] : {};
  return firstCount(
    usage['prompt_tokens'],
    usage['input_tokens'],
    usage['total_tokens'],
    billedUnits(value)['input_tokens'],
    metadata['promptTokenCount'],
  );
}

/** Usage of an embedding, or null where the provider tells none. */
export function embedUsage(value: JsonObject): Usage | null {
  const tokens = inputTokens(value);
  return tokens === null ? null : usageWith(tokens, 'provider');
}

/**
 * Usage of a ranking. Units are what the provider billed; where it bills tokens, or tells nothing, they are counted,
 * and only in the latter case the whole is an estimate.
 */
export function rerankUsage(value: JsonObject, task: RerankTask, wire: WireName): Usage {
  const tokens = inputTokens(value);
  const units = firstCount(billedUnits(value)['search_units']);
  const told = units !== null || (tokens !== null && wire !== 'cohere');
  return {
    ...usageWith(tokens ?? 0, told ? 'provider' : 'estimate'),
    search_units: units ?? estimatedUnits(task),
  };
}
