// Thirty days of made-up calls, so that the chart and the lists have something to show.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRequestLog, type RequestRow } from '@svc/core/analytics/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import { newRequestId, nowMs, type RequestId, silentLog } from '@svc/core/kernel/index.ts';
import type { Provisioned } from '../support/provision.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const models = [
  { model: 'anthropic/claude-sonnet', provider: 'beta', micro: 17_400_000 },
  { model: 'openai/gpt-mini', provider: 'acme', micro: 10_600_000 },
  { model: 'google/gemini-flash', provider: 'delta', micro: 4_900_000 },
  { model: 'meta/llama-maverick', provider: 'acme', micro: 1_400_000 },
  { model: 'mistral/small', provider: 'beta', micro: 700_000 },
] as const;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A fresh request id whose time is `at`. */
function idAt(at: number): RequestId {
  let time = '';
  for (let rest = Math.floor(at), i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    time = CROCKFORD[rest % 32] + time;
  }
  return (time + newRequestId().slice(10)) as RequestId;
}

function rowOf(org: Provisioned, at: number, over: Partial<RequestRow>): RequestRow {
  const key = org.keys[0] as Provisioned['keys'][number];
  return {
    request_id: idAt(at),
    org_id: org.org_id,
    environment: 'live',
    project_id: org.project_id,
    key_id: key.key_id,
    model: 'anthropic/claude-sonnet',
    provider: 'beta',
    endpoint_id: 'ep_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    region: 'eu-central',
    status: 'ok',
    http_status: 200,
    error_code: '',
    stop_reason: 'end_turn',
    attempts: 1,
    input_tokens: 3_184,
    output_tokens: 412,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    usage_source: 'provider',
    cost_micro: 7_412,
    ttft_ms: 402,
    duration_ms: 2_186,
    upstream_ttft_ms: 400,
    gw_overhead_ms: 1.8,
    stream: true,
    byok: false,
    zdr: true,
    logged: false,
    app_id: '',
    user_hash: '',
    session_id: '',
    cell: 'local',
    dialect_in: 'chat',
    upstream_model: '',
    price_version_id: '',
    bytes_in: 900,
    bytes_out: 4_100,
    tool_calls: 0,
    has_images: false,
    has_tools: false,
    has_schema: false,
    tags: {},
    user_agent: 'test',
    client_ip_prefix: '',
    route_trace: null,
    warnings: [],
    attempt_rows: [],
    ...over,
  };
}

/** Days of spend by model: less at weekends, growing, the same on every run. */
function days(org: Provisioned, now: number): RequestRow[] {
  let seed = 5;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  return Array.from({ length: DAYS }, (_, i) => i).flatMap((i) => {
    // Today's go to its first second, so that none of them lies in the future.
    const at = Math.floor(now / DAY_MS) * DAY_MS - (DAYS - 1 - i) * DAY_MS;
    const week = [0, 6].includes(new Date(at).getUTCDay()) ? 0.45 : 1;
    return models.map(({ model, provider, micro }) =>
      rowOf(org, at, {
        model,
        provider,
        cost_micro: Math.floor(micro * week * (0.7 + i / 50) * (0.8 + 0.4 * random())),
      }),
    );
  });
}

const recent: readonly Partial<RequestRow>[] = [
  { model: 'openai/gpt-mini', provider: 'acme', cost_micro: 644, ttft_ms: 219, input_tokens: 210 },
  { cost_micro: 12_980, ttft_ms: 455, input_tokens: 6_120 },
  {
    model: 'openai/gpt-mini',
    provider: 'acme',
    status: 'cancelled',
    http_status: 499,
    error_code: 'client_closed',
    cost_micro: 902,
    ttft_ms: 240,
  },
  { model: 'google/gemini-flash', provider: 'delta', cost_micro: 388, ttft_ms: 188, input_tokens: 96 },
  {
    provider: 'acme',
    status: 'error',
    http_status: 529,
    error_code: 'upstream_overloaded',
    stop_reason: '',
    cost_micro: 0,
    ttft_ms: null,
    output_tokens: 0,
  },
  { model: 'openai/gpt-mini', provider: 'acme', cost_micro: 1_204, ttft_ms: 231 },
  { attempts: 2 },
];

/** Writes the past of `org`; the rows can be read when it resolves. */
export async function writePast(pool: Pool, org: Provisioned): Promise<void> {
  const spool_dir = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  const log = await openRequestLog({ db: pool, log: silentLog, spool_dir });
  const now = nowMs();
  for (const row of days(org, now)) log.write(row);
  recent.forEach((over, i) => {
    log.write(rowOf(org, now - (recent.length - i) * 2_500, over));
  });
  await log.close();
}
