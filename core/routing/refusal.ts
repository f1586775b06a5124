// Refusals of the route, each saying what to change.
import type { Catalog, Model } from '../catalog/index.ts';
import { ServiceError } from '../kernel/index.ts';
import type { Choice, ExclusionReason, SettledInput } from './types.ts';

const SUGGESTIONS_MAX = 3;
/** Reasons that pass by themselves; with one of them the refusal is 503 and worth a retry. */
const transient: ReadonlySet<ExclusionReason> = new Set(['circuit']);

/** Edit distance of `a` and `b`, at most `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    previous = row;
  }
  return Math.min(previous[b.length] as number, limit + 1);
}

/** Ids close to `wanted`, nearest first: a forgotten vendor, another separator, a typing error. */
export function suggestions(catalog: Catalog, wanted: string): string[] {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[._:]/g, '-');
  // Some clients limit the length of a model name; beyond this no id is near.
  const name = plain(wanted.slice(0, 200));
  const limit = Math.max(1, Math.floor(name.length / 4));
  const near: { id: string; distance: number }[] = [];
  for (const id of catalog.models.keys()) {
    const full = plain(id);
    const tail = full.slice(full.indexOf('/') + 1);
    const of = name.slice(name.indexOf('/') + 1);
    const distance = Math.min(
      editDistance(name, full, limit),
      editDistance(of, tail, limit) + (of === name ? 0 : 0.5),
    );
    if (distance <= limit) near.push({ id, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
  return near.slice(0, SUGGESTIONS_MAX).map((item) => item.id);
}

/** The refusal of a model that the catalog does not have. */
export function modelNotFound(catalog: Catalog, id: string, param: string): ServiceError {
  const near = suggestions(catalog, id);
  const hint = near.length === 0 ? 'See GET /v1/models.' : `Did you mean ${near.join(' or ')}?`;
  const shown = id.length > 200 ? `${id.slice(0, 200)}…` : id;
  return new ServiceError('model_not_found', `There is no model ${JSON.stringify(shown)}. ${hint}`, {
    param,
    details: { suggestions: near },
  });
}

const adviceOf: { readonly [K in ExclusionReason]: string } = {
  status: 'it is not in service',
  environment: 'test keys are answered by the sandbox only',
  only: 'it is not among those the route allows',
  ignored: 'the route ignores it',
  zdr: 'it does not promise zero data retention',
  train: 'it may train on inputs',
  retention: 'it keeps data longer than allowed',
  region: 'it is outside the allowed regions',
  quantization: 'it has another quantization',
  capability: 'it lacks a capability that the request needs',
  lossy: 'a part of the request would be lost',
  server_tool: 'it does not offer the server tool',
  context: 'the prompt is too long',
  max_output: 'max_tokens is above its largest answer',
  tier: 'it has no price for the service tier',
  price: 'it costs more than allowed',
  byok: 'it needs a provider key of yours',
  uptime: 'it failed more often lately than the policy allows',
  circuit: 'it failed repeatedly just now',
};

/** Names of the variables whose absence takes endpoints of `models` out of service. */
function missingNames(models: readonly Model[]): string[] {
  const names = models.flatMap((model) => model.endpoints.map((endpoint) => endpoint.missing));
  return [...new Set(names.filter((name) => name !== null))];
}

function message(models: readonly Model[], choice: Choice): string {
  const model = models.map((one) => one.id).join(', ');
  const missing = missingNames(models);
  const reasons = [...new Set(choice.excluded.map((item) => item.reason))];
  if (missing.length > 0 && reasons.every((reason) => reason === 'status')) {
    return `No provider of ${model} has a key on this gateway; its operator sets ${missing.join(' or ')}.`;
  }
  const told = choice.excluded
    .slice(0, 4)
    .map((item) => `${item.provider}: ${adviceOf[item.reason]} (${item.reason})`);
  const more = choice.excluded.length > 4 ? `; ${choice.excluded.length - 4} more` : '';
  return `No endpoint of ${model} can serve this request. ${told.join('; ')}${more}.`;
}

/** The refusal of a call for which `choice` has no endpoint. */
export function nothingLeft(models: readonly Model[], choice: Choice, input: SettledInput): ServiceError {
  const beside = { excluded_by: choice.excluded };
  const reasons = new Set(choice.excluded.map((item) => item.reason));
  if ([...reasons].some((reason) => transient.has(reason))) {
    return new ServiceError('no_endpoint_available', message(models, choice), {
      status: 503,
      retry_after_ms: 15_000,
      beside,
    });
  }
  const loss = choice.lost.find((item) => item.class === 'content') ?? choice.lost[0];
  if (loss !== undefined) {
    const extra = { param: loss.param, details: { losses: choice.lost.slice(0, 20) }, beside };
    return new ServiceError('unsupported_parameter', loss.message, extra);
  }
  const endpoints = models.flatMap((model) => model.endpoints);
  if (reasons.size === 1 && reasons.has('context')) {
    const longest = Math.max(...endpoints.map((endpoint) => endpoint.context_length));
    const tokens = input.features.input_tokens_bound;
    const text = `The prompt has about ${tokens} tokens; ${input.model} takes ${longest}.`;
    return new ServiceError('context_length_exceeded', text, {
      details: { context_length: longest, input_tokens_bound: tokens },
      beside,
    });
  }
  if (reasons.size === 1 && reasons.has('max_output')) {
    const largest = Math.max(...endpoints.map((endpoint) => endpoint.max_output));
    const text = `max_tokens is above the largest answer of ${input.model}, ${largest} tokens.`;
    return new ServiceError('invalid_request', text, {
      param: 'max_tokens',
      details: { max_output: largest },
      beside,
    });
  }
  const missing = missingNames(models);
  return new ServiceError('no_endpoint_available', message(models, choice), {
    beside,
    ...(missing.length === 0 ? {} : { details: { missing } }),
  });
}
