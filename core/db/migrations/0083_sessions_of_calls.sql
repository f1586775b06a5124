-- compatible_from: 0054
-- The session of a call: a conversation or a run of an agent, as its caller names it. Rows of a gateway from before have none.
alter table request_row add column session_id text not null default '';

-- As v1, which gateways from before go on writing.
create type request_row_v2 as (
  request_id text, ts timestamptz, org_id text, environment text, project_id text, key_id text, model text,
  provider text, endpoint_id text, region text, status text, http_status int, error_code text,
  stop_reason text, attempts int, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, usage_source text, cost_micro bigint,
  ttft_ms double precision, duration_ms double precision, upstream_ttft_ms double precision,
  gw_overhead_ms double precision, stream boolean, byok boolean, zdr boolean, logged boolean, app_id text,
  user_hash text, cell text, dialect_in text, upstream_model text, price_version_id text, bytes_in bigint,
  bytes_out bigint, tool_calls int, has_images boolean, has_tools boolean, has_schema boolean, tags jsonb,
  user_agent text, client_ip_prefix text, route_trace jsonb, warnings jsonb, session_id text
);

-- Only rows that name a session are in it.
create index request_row_session on request_row (org_id, session_id, ts desc, request_id desc) where session_id <> '';
