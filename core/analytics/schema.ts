// Wire shapes of request rows and generation records.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, requestId } from '../kernel/index.ts';
import { payloadStates } from '../payloads/index.ts';
import { Route } from '../routing/index.ts';
import { attemptOutcomes, rowStatuses } from './types.ts';

const Count = Type.Integer();
const Ms = nullable(Type.Number());
const RowTs = Type.String({ description: 'YYYY-MM-DD hh:mm:ss.mmm, UTC' });

const rowMembers = {
  request_id: requestId(),
  ts: RowTs,
  project_id: idOf('project'),
  key_id: idOf('key'),
  model: Type.String(),
  provider: Type.String(),
  endpoint_id: idOf('endpoint'),
  region: Type.String(),
  status: oneOf(rowStatuses, 'RequestStatus'),
  http_status: Count,
  error_code: Type.String(),
  stop_reason: Type.String(),
  attempts: Count,
  input_tokens: Count,
  cache_read_tokens: Count,
  output_tokens: Count,
  usage_source: Type.String(),
  cost_micro: Count,
  ttft_ms: Ms,
  duration_ms: Ms,
  stream: Type.Boolean(),
  byok: Type.Boolean(),
  zdr: Type.Boolean(),
  logged: Type.Boolean(),
  app_id: Type.String(),
  user_hash: Type.String(),
  session_id: Type.String({
    description: 'of a conversation or a run of an agent, as calls send it in `svc.session`',
  }),
};
export const RowView = named('RequestRow', Type.Object(rowMembers));
export type RowView = Static<typeof RowView>;

export const Timing = named(
  'Timing',
  Type.Object({
    ttft_ms: Ms,
    duration_ms: Ms,
    gw_overhead_ms: Ms,
    upstream_ttft_ms: Type.Optional(Ms),
  }),
);
export const UsageView = named(
  'TokenUsage',
  Type.Object({
    input_tokens: Count,
    output_tokens: Count,
    cache_read_tokens: Count,
    cache_write_tokens: Count,
    reasoning_tokens: Count,
  }),
);

export const RowDetail = Type.Object({
  ...rowMembers,
  cell: Type.String(),
  dialect_in: Type.String(),
  upstream_model: Type.String(),
  price_version_id: Type.String(),
  upstream_ttft_ms: Ms,
  gw_overhead_ms: Ms,
  bytes_in: Count,
  bytes_out: Count,
  tool_calls: Count,
  has_images: Type.Boolean(),
  has_tools: Type.Boolean(),
  has_schema: Type.Boolean(),
  cache_write_tokens: Count,
  reasoning_tokens: Count,
  tags: Type.Record(Type.String(), Type.String()),
  shadow_of: nullable(
    Type.String({ description: 'the call that this one is a copy of, for a shadow of a routing policy' }),
  ),
  shadows: Type.Array(Type.String(), { description: 'its copies for shadows, by their request ids' }),
  user_agent: Type.String(),
  client_ip_prefix: Type.String(),
  replays: Type.Integer({ description: 'how often its answer was given again to the same Idempotency-Key' }),
  route: nullable(Route),
  route_trace: nullable(Type.String({ description: '`route` in one line of at most 1,024 bytes' })),
  warnings: Type.Array(Type.Unknown()),
  timing: Timing,
  usage: Type.Object({ source: Type.String(), normalised: UsageView }),
  attempt_rows: Type.Array(
    Type.Object({
      attempt: Count,
      ts: RowTs,
      provider: Type.String(),
      endpoint_id: idOf('endpoint'),
      pool_id: Type.String(),
      key_hint: Type.String(),
      outcome: oneOf(attemptOutcomes, 'AttemptOutcome'),
      http_status: Count,
      error_class: Type.String(),
      ttft_ms: Ms,
      duration_ms: Ms,
      output_tokens: Count,
    }),
  ),
  payload_state: oneOf(payloadStates, 'PayloadState'),
});
export type RowDetail = Static<typeof RowDetail>;

/** The same with what was kept of the call's content, for who may see it. */
export const RowWithPayload = named(
  'RequestDetail',
  Type.Object({
    ...RowDetail.properties,
    request: Type.Optional(Type.Unknown({ description: 'canonical, redacted; only when logged' })),
    response: Type.Optional(Type.Unknown({ description: 'canonical, redacted; only when logged' })),
  }),
);

const CostView = named(
  'Cost',
  Type.Object({
    total_micro_usd: Count,
    lines: Type.Array(
      Type.Object({
        kind: Type.String(),
        units: Count,
        unit_price_nano: Count,
        micro_usd: Count,
      }),
    ),
    price_version: Type.String(),
    estimated: Type.Optional(Type.Boolean()),
  }),
);

export const Generation = named(
  'Generation',
  Type.Object({
    id: requestId(),
    created: Type.String({ format: 'date-time' }),
    model: Type.String(),
    resolved: Type.Object({
      provider: Type.String(),
      endpoint_id: idOf('endpoint'),
      upstream_model: Type.String(),
      region: Type.String(),
    }),
    usage: UsageView,
    cost: CostView,
    timing: Type.Partial(Timing),
    stop: Type.Object({ reason: Type.String() }),
    attempts: Type.Array(
      Type.Object({
        attempt: Count,
        provider: Type.String(),
        outcome: oneOf(attemptOutcomes, 'AttemptOutcome'),
        http_status: Count,
        ttft_ms: Ms,
      }),
    ),
    warnings: Type.Array(Type.Unknown()),
    source: Type.Object({
      cost: Type.Literal('ledger'),
      timing: nullable(Type.Literal('analytics')),
    }),
  }),
);
export type Generation = Static<typeof Generation>;
