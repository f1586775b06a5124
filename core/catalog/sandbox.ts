// The sandbox's part of the catalog (core/inference/formats/sandbox/README.md): its own models, and the two endpoints that stand in for every
// other model when a test key calls, so that a test key never reaches a real provider.
import type { FileCapabilities, FileEndpoint } from './file-schema.ts';
import { type Merged, type MergedModel, SANDBOX } from './merge.ts';

/** Two endpoints per model, so that routing, failover and sorting by price can be tried. */
export const sandboxSites = [
  { region: 'local-1', cancel_billing: 'stops', price_factor: 2 },
  { region: 'local-2', cancel_billing: 'bills_full', price_factor: 1 },
] as const;

const everything: FileCapabilities = {
  tools: true,
  parallel_tools: true,
  json_schema: true,
  vision: true,
  audio: true,
  pdf: true,
  reasoning: true,
  cache: true,
  prefill: true,
  parameters: ['top_k', 'min_p', 'top_a', 'repetition_penalty', 'seed', 'logprobs', 'logit_bias'],
  betas: ['*'],
  server_tools: [],
};

const statuses = [400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529];
const names = [
  'echo',
  'lorem',
  'json',
  'tools',
  'reasoning',
  'vision',
  'cache',
  'refusal',
  'filter',
  'filter-mid',
  ...statuses.map((status) => `error-${status}`),
  'error-flaky',
  'error-mid',
  'cut',
  'stall',
  'garbage',
  'no-usage',
  'zero',
  'slow',
  'long',
  'context',
  'embed',
  'rerank',
] as const;

/** Prices of sandbox models for test keys, USD per million; the first endpoint costs twice as much. Live keys pay 0. */
const sandboxPrice = {
  input: '1',
  output: '4',
  cache_read: '0.1',
  cache_write: '1.25',
  cache_write_1h: '2',
};

/** Prices of one sandbox model for test keys; a search unit costs 0.002 USD. */
export function sandboxPriceOf(model_id: string): typeof sandboxPrice & { search_unit?: string } {
  return model_id === `${SANDBOX}/rerank` ? { ...sandboxPrice, search_unit: '2000' } : sandboxPrice;
}

function title(name: string): string {
  return `Sandbox ${name.replaceAll('-', ' ')}`;
}

/** Endpoints of `model_id` at the sandbox; prices are the caller's to set. */
export function sandboxEndpoints(model_id: string): FileEndpoint[] {
  return sandboxSites.map((site) => ({
    provider: SANDBOX,
    upstream_model: model_id,
    region: site.region,
    cancel_billing: site.cancel_billing,
    price: { input: '0', output: '0' },
  }));
}

function able(name: string): Pick<MergedModel, 'modalities' | 'capabilities'> {
  if (name === 'embed') {
    const capabilities = { parameters: ['dimensions', 'input_type'] };
    return { modalities: { in: ['text'], out: ['embedding'] }, capabilities };
  }
  if (name === 'rerank') return { modalities: { in: ['text'], out: ['ranking'] }, capabilities: {} };
  return {
    modalities: { in: ['text', 'image', 'audio', 'video'], out: ['text'] },
    capabilities: everything,
  };
}

/** The models of the sandbox in the form of a file. */
function sandboxModels(): MergedModel[] {
  return names.map((name) => ({
    id: `${SANDBOX}/${name}`,
    name: title(name),
    context_length: name === 'context' ? 1_000 : 1_000_000,
    max_output: name === 'context' ? 1_000 : 131_072,
    ...able(name),
    reasoning: { controls: ['effort', 'budget', 'adaptive', 'off'], hidden: false },
    endpoints: sandboxEndpoints(`${SANDBOX}/${name}`),
  }));
}

/** `merged` with the sandbox's models beside the others. */
export function withSandbox(merged: Merged): MergedModel[] {
  return [...merged.models.values(), ...sandboxModels()];
}
