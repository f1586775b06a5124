// Refusals of the route, each saying what to change.
import type { Endpoint, Model } from '../catalog/index.ts';
import { ServiceError } from '../kernel/index.ts';
import { type Demands, demandsOf, isOwnKeyOnly, ownUses } from './filters.ts';
import type { Candidates, Choice, Excluded, ExclusionReason, SettledInput } from './types.ts';

/** Reasons that pass by themselves; with one of them the refusal is 503 and worth a retry. */
const transient: ReadonlySet<ExclusionReason> = new Set(['circuit', 'rate', 'capacity']);
/** Told of a refusal at most; the rest is counted. */
const EXCLUDED_MAX = 256;
/** What takes an endpoint out of every call of this key, and so says nothing of this request. */
const ofNoCall: ReadonlySet<ExclusionReason> = new Set(['status', 'environment']);

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
  byok: 'it is open to this call with a provider key of yours alone',
  uptime: 'it failed more often lately than the policy allows',
  circuit: 'it failed repeatedly just now',
  rate: 'it limits our requests just now',
  capacity: 'it is overloaded just now',
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
    return `No provider of ${model} has a key on this gateway; whoever runs it must set ${missing.join(' or ')}.`;
  }
  const reported = choice.excluded
    .slice(0, 4)
    .map((item) => `${item.provider}: ${adviceOf[item.reason]} (${item.reason})`);
  const more = choice.excluded.length > 4 ? `; ${choice.excluded.length - 4} more` : '';
  return `No endpoint of ${model} can serve this request. ${reported.join('; ')}${more}.`;
}

/** Milliseconds until a key that the call may use, of the caller's or of the pool, may be used at `endpoint`. */
function keyRestMs(endpoint: Endpoint, input: SettledInput, demands: Demands): number {
  const own = ownUses(endpoint, demands);
  const rests = own.map(({ rest_ms }) => rest_ms);
  const strict = own.some((use) => use.endpoint.own_key?.fallback_to_pool === false);
  const keeps_off = strict || isOwnKeyOnly(endpoint, demands);
  if (own.length === 0 || !keeps_off) rests.push(input.rests?.(endpoint) ?? 0);
  return Math.min(...rests);
}

/** Milliseconds until the first of the endpoints that are only out for a while can be tried. */
function waitMs(
  models: readonly Model[],
  excluded: readonly Excluded[],
  input: SettledInput,
  demands: Demands,
): number {
  const waiting = new Set(
    excluded.filter(({ reason }) => transient.has(reason)).map(({ endpoint_id }) => endpoint_id),
  );
  const waits = models.flatMap(({ endpoints }) =>
    endpoints
      .filter(({ id }) => waiting.has(id))
      .map((endpoint) => {
        const figures = input.health.figures(endpoint.id, input.now_ms);
        // The circuit may let a probe pass while its keys still rest: all of them must be over.
        return Math.max(figures?.circuit_ms ?? 0, figures?.rest_ms ?? 0, keyRestMs(endpoint, input, demands));
      }),
  );
  return Math.max(1, Math.min(...waits));
}

/** What a call that a larger endpoint could serve is told: the prompt's length, or `max_tokens`; null: that is not all. */
function tooLarge(models: readonly Model[], choice: Choice, input: SettledInput): ServiceError | null {
  const of = choice.excluded.filter(({ reason }) => !ofNoCall.has(reason));
  if (of.length === 0 || of.some(({ reason }) => reason !== 'context' && reason !== 'max_output'))
    return null;
  const beside = besideOf(choice);
  const endpoints = models.flatMap((model) => model.endpoints);
  const among = (wanted: ExclusionReason) => {
    const ids = new Set(of.filter(({ reason }) => reason === wanted).map(({ endpoint_id }) => endpoint_id));
    return endpoints.filter(({ id }) => ids.has(id));
  };
  const short = among('max_output');
  if (short.length > 0) {
    const largest = Math.max(...short.map((endpoint) => endpoint.max_output));
    const text = `max_tokens is above the largest answer of ${input.model}, ${largest} tokens.`;
    return new ServiceError('invalid_request', text, {
      param: 'max_tokens',
      details: { max_output: largest },
      beside,
    });
  }
  const small = among('context');
  const longest = Math.max(...small.map((endpoint) => endpoint.context_length));
  const tokens = input.features.input_tokens_bound;
  // The sandbox counts by the rule of the bound itself; anywhere else the bound is an estimate from above.
  const exact = small.every((endpoint) => endpoint.wire.in_process);
  const text = `The prompt has ${exact ? '' : 'about '}${tokens} tokens; ${input.model} takes ${longest}.`;
  return new ServiceError('context_length_exceeded', text, {
    details: { input_tokens: tokens, context_length: longest, source: exact ? 'exact' : 'estimate' },
    beside,
  });
}

function besideOf({ excluded }: Choice): { excluded_by: readonly Excluded[] } {
  return { excluded_by: excluded.length > EXCLUDED_MAX ? excluded.slice(0, EXCLUDED_MAX) : excluded };
}

/**
 * The refusal of a call for which `choice` has no endpoint: 503 where one of them is out for a while only, else 400
 * with what in the request to change.
 */
export function nothingLeft(
  { catalog, models }: Candidates,
  choice: Choice,
  input: SettledInput,
): ServiceError {
  const beside = besideOf(choice);
  const more = choice.excluded.length - beside.excluded_by.length;
  if (choice.excluded.some(({ reason }) => transient.has(reason))) {
    return new ServiceError('no_endpoint_available', message(models, choice), {
      status: 503,
      retry_after_ms: waitMs(models, choice.excluded, input, demandsOf(input, catalog)),
      ...(more === 0 ? {} : { details: { excluded_more: more } }),
      beside,
    });
  }
  const loss = choice.lost.find((item) => item.class === 'content') ?? choice.lost[0];
  if (loss !== undefined) {
    const extra = { param: loss.param, details: { losses: choice.lost.slice(0, 20) }, beside };
    return new ServiceError('unsupported_parameter', loss.message, extra);
  }
  const too_large = tooLarge(models, choice, input);
  if (too_large !== null) return too_large;
  const missing = missingNames(models);
  const details = {
    ...(missing.length === 0 ? {} : { missing }),
    ...(more === 0 ? {} : { excluded_more: more }),
  };
  return new ServiceError('no_endpoint_available', message(models, choice), {
    beside,
    ...(Object.keys(details).length === 0 ? {} : { details }),
  });
}
