// Calls for the tests of explain.ts and picture.ts.
import type { AttemptFact, CallFacts } from './explain.ts';

export const acme = {
  endpoint: 'ep_a',
  provider: 'acme',
  region: 'eu-west',
  score: 0.981,
  planned_at: 1,
  excluded_by: null,
};
export const beta = {
  endpoint: 'ep_b',
  provider: 'beta',
  region: 'eu-central',
  score: 0.744,
  planned_at: 2,
  excluded_by: null,
};
export const gamma = {
  endpoint: 'ep_g',
  provider: 'gamma',
  region: 'us-east',
  score: null,
  planned_at: null,
  excluded_by: 'region',
};

export function attempt(over: Partial<AttemptFact>): AttemptFact {
  return {
    endpoint: 'ep_a',
    provider: 'acme',
    at_ms: 1_000,
    ok: true,
    cancelled: false,
    http_status: 200,
    fault: '',
    ttft_ms: 400,
    duration_ms: 2_000,
    own_key: '',
    ...over,
  };
}
export function call(over: Partial<CallFacts>): CallFacts {
  return {
    status: 'ok',
    error_code: '',
    candidates: 3,
    hidden: 0,
    endpoints: [acme, beta, gamma],
    attempts: [attempt({})],
    cost_micro: '21432',
    start_ms: 1_000,
    left: null,
    ...over,
  };
}
export const failed = attempt({
  ok: false,
  http_status: 503,
  fault: 'overloaded',
  ttft_ms: null,
  duration_ms: 812,
});
