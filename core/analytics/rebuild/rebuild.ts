// Rows of calls that were metered and left none: their process was killed between the two, or its disk was full. A rebuilt row
// has what the ledger knows: tokens, cost, where the call went, and no timings. It gives way to the call's own row, whenever
// that comes.
import { findEndpointByNo, findPriceVersion } from '../../catalog/index.ts';
import { type Pool, readSetting, writeSetting } from '../../db/index.ts';
import { type Db, type RequestId, ulidMs } from '../../kernel/index.ts';
import { findSubjectOwner } from '../../keys/index.ts';
import { listMetered, type Metered, readMeter } from '../../ledger/index.ts';
import { postgresReader } from '../engine/postgres.ts';
import type { RowReader } from '../engine/types.ts';
import type { AttemptRow, RequestLog, RequestRow } from '../types.ts';

const HOUR_MS = 3_600_000;
/** By then a row has come, or lies in a spool that may still come. */
const LATE_MS = 2 * HOUR_MS;
/** How far back the first run looks; what is older was kept by nobody's promise. */
const FIRST_MS = 48 * HOUR_MS;
/** Hours of one run, so that the leader can stop during a long one. */
const HOURS_MAX = 72;
const PAGE = 1_000;
const SETTING = 'rows_rebuilt';

interface Parts {
  readonly pool: Pool;
  readonly reader?: RowReader | undefined;
  readonly request_log: Pick<RequestLog, 'write' | 'flush'>;
  readonly cell: string;
  readonly now: Date;
}

function attemptOf(meter: Metered, at: { provider: string; endpoint_id: string }): AttemptRow {
  return {
    ...{
      attempt: 1,
      ts_ms: ulidMs(meter.request_id),
      ...at,
      pool_id: '',
      key_hint: '',
      outcome: meter.outcome,
    },
    ...{ http_status: 0, error_class: 'rebuilt', ttft_ms: null, duration_ms: null },
    output_tokens: meter.units.output_tokens,
  };
}

/** The row of a metered call as far as the ledger knows it; null when its key is gone with its organization. */
async function rowOf(db: Db, meter: Metered, cell: string): Promise<RequestRow | null> {
  const owner = await findSubjectOwner(db, meter);
  if (owner === null) return null;
  const endpoint = await findEndpointByNo(db, meter.endpoint_no);
  const price = await findPriceVersion(db, meter.price_no);
  const at = { provider: endpoint?.provider ?? '', endpoint_id: endpoint?.endpoint_id ?? '' };
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens } =
    meter.units;
  const unknown = { ttft_ms: null, duration_ms: null, upstream_ttft_ms: null, gw_overhead_ms: null };
  return {
    ...{ request_id: meter.request_id, ...owner, model: endpoint?.model ?? '', ...at, cell, ...unknown },
    ...{
      region: endpoint?.region ?? '',
      upstream_model: endpoint?.upstream_model ?? '',
      status: meter.outcome,
    },
    ...{ http_status: meter.outcome === 'ok' ? 200 : 0, error_code: '', stop_reason: '', attempts: 1 },
    ...{ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens },
    ...{ usage_source: meter.estimated ? 'estimate' : 'provider', cost_micro: meter.charged_micro_usd },
    ...{
      stream: false,
      byok: price?.fee_bps !== undefined,
      zdr: false,
      logged: false,
      app_id: '',
      user_hash: '',
      session_id: '',
    },
    ...{ dialect_in: '', price_version_id: price?.id ?? '', bytes_in: 0, bytes_out: 0, tool_calls: 0 },
    ...{
      has_images: false,
      has_tools: false,
      has_schema: false,
      tags: {},
      user_agent: '',
      client_ip_prefix: '',
    },
    ...{ route_trace: null, warnings: [], attempt_rows: [attemptOf(meter, at)] },
  };
}

async function rebuildHour(parts: Parts, ledger: Db, from: Date): Promise<number> {
  const { pool, request_log, cell } = parts;
  const reader = parts.reader ?? postgresReader(pool);
  const until = new Date(from.getTime() + HOUR_MS);
  let rebuilt = 0;
  for (let after: RequestId | null = null, more = true; more; ) {
    const ids: RequestId[] = await listMetered(ledger, { from, until, after, limit: PAGE });
    const known = ids.length === 0 ? new Set() : await reader.findKnown(ids);
    for (const request_id of ids.filter((id) => !known.has(id))) {
      const meter = await readMeter(ledger, request_id);
      const row = meter === null ? null : await rowOf(pool, meter, cell);
      if (row === null) continue;
      request_log.write(row);
      rebuilt++;
    }
    more = ids.length === PAGE;
    after = ids.at(-1) ?? null;
  }
  return rebuilt;
}

/** Rebuilds the rows that are missing of hours that nobody has looked at, up to two hours ago; returns how many. A job. */
export async function rebuildRows(parts: Parts): Promise<number> {
  const { pool, now, request_log } = parts;
  const until_ms = Math.floor((now.getTime() - LATE_MS) / HOUR_MS) * HOUR_MS;
  const seen = await readSetting<string>(pool, SETTING);
  const first_ms = Math.floor((now.getTime() - FIRST_MS) / HOUR_MS) * HOUR_MS;
  let rebuilt = 0;
  let from_ms = seen === null ? first_ms : Date.parse(seen);
  for (let hours = 0; from_ms < until_ms && hours < HOURS_MAX; hours++, from_ms += HOUR_MS) {
    for (const name of pool.shards.names)
      rebuilt += await rebuildHour(parts, pool.shards.at(name), new Date(from_ms));
    // Before the hour is behind us, its rows are stored, or safe on disk.
    await request_log.flush();
    await writeSetting(pool, { name: SETTING, value: new Date(from_ms + HOUR_MS).toISOString(), at: now });
  }
  return rebuilt;
}
