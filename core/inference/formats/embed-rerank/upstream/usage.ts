// What providers of embeddings and rankings report as used (docs/fidelity.md#usage).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { estimatedUnits } from '../../../canonical/search-units.ts';
import { countImages, isContent } from '../../../canonical/tasks/inputs.ts';
import type { EmbedTask, RerankTask, Usage } from '../../../canonical/types.ts';
import type { WireName } from './wires.ts';

/** Larger counts cannot be the usage of one call; the metering record holds 32-bit integers. */
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

/** The first of `values` that can be a count; anything else that a broken server sends counts as missing. */
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

/** Tokens of images among those of the prompt, for providers that count them; null when none are reported. */
function imageTokens(value: JsonObject, total: number): number | null {
  const usage = isObject(value['usage']) ? value['usage'] : {};
  const texts = firstCount(usage['text_tokens']);
  // Voyage reports the tokens of the text and the total.
  if (texts !== null) return Math.max(0, total - texts);
  const metadata = isObject(value['usageMetadata']) ? value['usageMetadata'] : {};
  // Its two APIs spell the member differently.
  const reported = metadata['promptTokensDetails'] ?? metadata['promptTokenDetails'];
  const details = Array.isArray(reported) ? reported : [];
  const image = details.filter(isObject).find(({ modality }) => modality === 'IMAGE');
  return image === undefined ? null : firstCount(image['tokenCount']);
}

/** The minimum for an image when the provider reports nothing (Gemini's tile). */
const IMAGE_TOKENS_LEAST = 258;
/** Bytes of text per token, as for every text whose tokens are not reported. */
const TEXT_BYTES = 6;

/** Usage of an embedding; null when the provider reports none and only text was sent, which is counted elsewhere. */
export function embedUsage(value: JsonObject, task: EmbedTask): Usage | null {
  // Cohere bills images in addition to the tokens of texts.
  const beside = firstCount(billedUnits(value)['image_tokens']);
  const reported = inputTokens(value);
  const images = countImages(task);
  if (reported === null && beside === null) return images === 0 ? null : countedUsage(task, images);
  const tokens = (reported ?? 0) + (beside ?? 0);
  const image = beside ?? imageTokens(value, tokens) ?? 0;
  const usage = usageWith(tokens, 'provider');
  return image === 0 ? usage : { ...usage, image_input_tokens: Math.min(image, tokens) };
}

/** A lower bound. */
function countedUsage({ input }: EmbedTask, images: number): Usage {
  let bytes = 0;
  for (const item of input) {
    if (typeof item === 'string') bytes += Buffer.byteLength(item);
    else if (isContent(item)) {
      for (const part of item.content) if (part.type === 'text') bytes += Buffer.byteLength(part.text);
    }
  }
  const image_input_tokens = images * IMAGE_TOKENS_LEAST;
  const tokens = Math.floor(bytes / TEXT_BYTES) + image_input_tokens;
  return { ...usageWith(tokens, 'estimate'), image_input_tokens };
}

/**
 * Usage of a ranking. Units are what the provider billed; when it bills tokens or reports nothing, they are counted
 * here, and only in the latter case is the whole an estimate.
 */
export function rerankUsage(value: JsonObject, task: RerankTask, wire: WireName): Usage {
  const tokens = inputTokens(value);
  const units = firstCount(billedUnits(value)['search_units']);
  const reported = units !== null || (tokens !== null && wire !== 'cohere');
  return {
    ...usageWith(tokens ?? 0, reported ? 'provider' : 'estimate'),
    search_units: units ?? estimatedUnits(task),
  };
}
