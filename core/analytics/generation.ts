// The generation record: the cost from the ledger, which is there before the answer ends, and timings and attempts from
// analytics, which follow within a second.
import { type Catalog, type Endpoint, findPriceVersion } from '../catalog/index.ts';
import { type Context, type KeyCaller, type MemberCaller, type RequestId, ulidMs } from '../kernel/index.ts';
import { type Metered, meteredUsage, readMeter } from '../ledger/index.ts';
import { findOrg } from '../orgs/index.ts';
import { type Cost, recompute } from '../pricing/index.ts';
import { readerOf } from './engine/postgres.ts';
import type { RowReader } from './engine/types.ts';
import type { Generation } from './schema.ts';
import type { StoredRow } from './types.ts';

/** The metering record of a call in a book that `caller` may see; null when there is none. */
async function findMeter(
  context: Context,
  caller: KeyCaller | MemberCaller,
  id: RequestId,
): Promise<Metered | null> {
  const org = await findOrg(context.db, caller.org_id);
  if (org === null) return null;
  const meter = await readMeter(context.shards.at(org.shard), id);
  if (meter === null) return null;
  const books =
    caller.environment === 'test' ? [org.sandbox_book_id] : [org.live_book_id, org.sandbox_book_id];
  return books.includes(meter.book_id) ? meter : null;
}

/**
 * The bill of a metered call, recomputed from its units and the price version in force at its admission. `lines` is
 * empty where the answer was insured, and where the units do not add up to the settled cost (a record from before all
 * of them were metered): such a total is shown without lines.
 */
async function costOf(context: Context, meter: Metered): Promise<Cost> {
  const version = await findPriceVersion(context.db, meter.price_no);
  const cost: Cost = {
    total_micro_usd: meter.cost_micro_usd,
    lines: [],
    price_version: version?.id ?? '',
    ...(meter.estimated ? { estimated: true } : {}),
  };
  if (version === null) return cost;
  const bill = recompute(meteredUsage(meter), version, meter.cost_micro_usd);
  if (!bill.exact) return cost;
  // As in the answer of the call: only generation always has lines for input and output.
  const isTask = endpointOf(context.services.catalog(), meter)?.task !== undefined;
  const { lines } = bill.cost;
  return { ...cost, lines: isTask ? lines.filter(({ units }) => units > 0) : lines };
}

/** The endpoint that answered, if the catalog of today has it. */
function endpointOf(catalog: Catalog, meter: Metered): Endpoint | null {
  for (const endpoint of catalog.endpoints.values()) {
    if (endpoint.endpoint_no === meter.endpoint_no) return endpoint;
  }
  return null;
}

/** Where a call went, by the present catalog; the row replaces this once it is there. */
function resolvedBy(catalog: Catalog, meter: Metered | null): Generation['resolved'] & { model: string } {
  const endpoint = meter === null ? null : endpointOf(catalog, meter);
  return {
    provider: endpoint?.provider ?? '',
    endpoint_id: endpoint?.id ?? '',
    upstream_model: endpoint?.upstream_model ?? '',
    region: endpoint?.region ?? '',
    model: endpoint?.model_id ?? '',
  };
}

function usageOf(record: Metered['units'] | StoredRow): Generation['usage'] {
  return {
    input_tokens: record.input_tokens,
    output_tokens: record.output_tokens,
    cache_read_tokens: record.cache_read_tokens,
    cache_write_tokens: record.cache_write_tokens,
    reasoning_tokens: record.reasoning_tokens,
  };
}

/** The row of a call; null too while an engine beside the database is away: the ledger has what the call cost. */
async function readRow(
  context: Context,
  args: Parameters<RowReader['findRow']>[0],
): Promise<StoredRow | null> {
  try {
    return await readerOf(context).findRow(args);
  } catch (error) {
    if (context.services.row_reader === undefined) throw error;
    context.log.warn({ error }, 'the row of a call cannot be read');
    return null;
  }
}

/** The record of call `id`, or null when `caller` may not see it or it does not exist. */
export async function findGeneration(
  context: Context,
  caller: KeyCaller | MemberCaller,
  id: RequestId,
): Promise<Generation | null> {
  const environment = caller.environment === 'test' ? 'test' : null;
  const [meter, row] = await Promise.all([
    findMeter(context, caller, id),
    readRow(context, { org_id: caller.org_id, environment, request_id: id }),
  ]);
  const record = meter?.units ?? row;
  if (record === null) return null;
  const attempts = row === null ? [] : await readerOf(context).listAttempts(id);
  const { model, ...resolved } = row ?? resolvedBy(context.services.catalog(), meter);
  const cost: Cost =
    meter === null
      ? // Not booked: free, or in a journal until the database is back.
        { total_micro_usd: row?.cost_micro ?? 0, lines: [], price_version: row?.price_version_id ?? '' }
      : await costOf(context, meter);
  return {
    id,
    created: new Date(ulidMs(id)).toISOString(),
    model,
    resolved: {
      provider: resolved.provider,
      endpoint_id: resolved.endpoint_id,
      upstream_model: resolved.upstream_model,
      region: resolved.region,
    },
    usage: usageOf(record),
    cost,
    timing:
      row === null
        ? {}
        : {
            ttft_ms: row.ttft_ms,
            duration_ms: row.duration_ms,
            gw_overhead_ms: row.gw_overhead_ms,
            upstream_ttft_ms: row.upstream_ttft_ms,
          },
    stop: { reason: row?.stop_reason ?? '' },
    attempts: attempts.map(({ attempt, provider, outcome, http_status, ttft_ms }) => ({
      attempt,
      provider,
      outcome,
      http_status,
      ttft_ms,
    })),
    warnings: row === null ? [] : [...row.warnings],
    source: { cost: 'ledger', timing: row === null ? null : 'analytics' },
  };
}
