// Documented answers of the look-up routes; a test checks them against the schemas.
import type { Generation, RowDetail, RowView } from './schema.ts';

const id = '01KACZ3V8S6T5R4Q3P2N1M0K9J';
const endpoint_id = 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R';
const usage = {
  input_tokens: 21,
  output_tokens: 120,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

export const rowExample: RowView = {
  request_id: id,
  ts: '2026-11-21 10:00:00.123',
  project_id: `prj_${id}`,
  key_id: `key_${id}`,
  model: 'acme/fast-1',
  provider: 'acme',
  endpoint_id,
  region: 'eu-west',
  status: 'ok',
  http_status: 200,
  error_code: '',
  stop_reason: 'end_turn',
  attempts: 1,
  input_tokens: usage.input_tokens,
  cache_read_tokens: 0,
  output_tokens: usage.output_tokens,
  usage_source: 'provider',
  cost_micro: 1_253,
  ttft_ms: 210.5,
  duration_ms: 1_430.2,
  stream: true,
  byok: false,
  zdr: false,
  logged: false,
  app_id: '',
  user_hash: '',
  session_id: 'run-42',
};

export const rowDetailExample: RowDetail = {
  ...rowExample,
  cell: 'local',
  dialect_in: 'chat',
  upstream_model: 'fast-1',
  price_version_id: `pv_${id}`,
  upstream_ttft_ms: 208.1,
  gw_overhead_ms: 2.4,
  bytes_in: 412,
  bytes_out: 6_120,
  tool_calls: 0,
  has_images: false,
  has_tools: false,
  has_schema: false,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  tags: { team: 'search' },
  shadow_of: null,
  shadows: [],
  user_agent: 'OpenAI/JS 7.57.0',
  client_ip_prefix: '203.0.113.0/24',
  replays: 0,
  route: {
    ...{ policy: 'agents', version: 7, rule: 'office-hours', sort: 'latency', affinity: 'miss' },
    ...{ catalog: '8f0c2d7e', candidates: 2 },
    plan: [{ endpoint_id: 'ep_0000000000000000000000000B', score: 0.981 }],
    excluded: [{ endpoint_id: 'ep_0000000000000000000000000A', reason: 'region' }],
    excluded_hidden: 0,
    attempts: [{ endpoint_id: 'ep_0000000000000000000000000B', outcome: 'ok', http_status: 200, ms: 209 }],
    winner: 'ep_0000000000000000000000000B',
    reserve_micro: 5_120,
  },
  route_trace:
    'v1; policy=agents/7; rule=office-hours; sort=latency; arm=-; canary=0; aff=miss; cand=2; ' +
    'drop=ep_0000000000000000000000000A:region; plan=ep_0000000000000000000000000B:0.981; ' +
    'try=ep_0000000000000000000000000B:ok:200:209; win=ep_0000000000000000000000000B; reserve=5120',
  warnings: [],
  timing: { ttft_ms: 210.5, duration_ms: 1_430.2, gw_overhead_ms: 2.4, upstream_ttft_ms: 208.1 },
  usage: { source: 'provider', normalised: usage },
  attempt_rows: [
    {
      attempt: 1,
      ts: '2026-11-21 10:00:00.125',
      provider: 'acme',
      endpoint_id,
      pool_id: 'main',
      key_hint: '',
      outcome: 'ok',
      http_status: 200,
      error_class: '',
      ttft_ms: 208.1,
      duration_ms: 1_428,
      output_tokens: usage.output_tokens,
    },
  ],
  payload_state: 'none',
};

export const generationExample: Generation = {
  id,
  created: '2026-11-21T10:00:00.123Z',
  model: 'acme/fast-1',
  resolved: { provider: 'acme', endpoint_id, upstream_model: 'fast-1', region: 'eu-west' },
  usage,
  cost: {
    total_micro_usd: 1_253,
    lines: [
      { kind: 'input', units: 21, unit_price_nano: 2_500, micro_usd: 53 },
      { kind: 'output', units: 120, unit_price_nano: 10_000, micro_usd: 1_200 },
    ],
    price_version: `pv_${id}`,
  },
  timing: { ttft_ms: 210.5, duration_ms: 1_430.2, gw_overhead_ms: 2.4, upstream_ttft_ms: 208.1 },
  stop: { reason: 'end_turn' },
  attempts: [{ attempt: 1, provider: 'acme', outcome: 'ok', http_status: 200, ttft_ms: 208.1 }],
  warnings: [],
  source: { cost: 'ledger', timing: 'analytics' },
};
