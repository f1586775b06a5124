// Compares what was measured with the limits; rows that were not measured are left out.
import {
  allocatedKb,
  type Bar,
  callbackBars,
  concurrentBars,
  fewPairsPostgres,
  idleGatewayMb,
  idleStreamKb,
  idleStreamRatio,
  latencyBars,
  pairPostgres,
  pairsPerSecond,
  ratioBars,
  routingUs,
  storedRow,
  tenantBars,
  waitingPostgres,
} from './bars.ts';
import type { LedgerBenchRow } from './ledger.ts';
import type { Figures } from './measure.ts';
import type { AllocationFigures } from './parts/allocation.ts';
import type { CallbackFigures } from './parts/callbacks.ts';
import type { ConcurrentFigures } from './parts/concurrent.ts';
import type { IdleFigures } from './parts/idle.ts';
import type { StoredRowFigures } from './parts/stored-rows.ts';
import type { TenantFigures } from './parts/tenants.ts';

export interface Results {
  readonly figures: Map<string, Map<string, Figures>>;
  idle: readonly IdleFigures[];
  concurrent: readonly ConcurrentFigures[];
  allocation: readonly AllocationFigures[];
  stored_rows: StoredRowFigures | null;
  pairs: readonly LedgerBenchRow[];
  gateway_calls: number;
  disk: { readonly p50_ms: number; readonly p99_ms: number } | null;
  /** Median µs of a decision over 1,000 endpoints, by kind. */
  decisions: Readonly<Record<string, number>>;
  tenants: TenantFigures | null;
  callbacks: CallbackFigures | null;
}

function ratios({ figures }: Results): Bar[] {
  return Object.entries(ratioBars).flatMap(([name, lines]) => {
    const of = figures.get(name);
    const bare = of?.get('bare');
    return Object.entries(lines).flatMap(([variant, line]) => {
      const measured = of?.get(variant);
      if (bare === undefined || measured === undefined) return [];
      const title = `${name}, ${variant}: CPU to bare proxy`;
      const bar = { title, measured: measured.cpu_us / bare.cpu_us, unit: 'x', ...line };
      // Streams have their pace, and 8 calls of 100k tokens never wait long enough for a process to grow cold.
      return name === 'plain' ? [{ ...bar, busy: measured.busy }] : [bar];
    });
  });
}

function tenants({ tenants: found }: Results): Bar[] {
  if (found === null) return [];
  const { calls_p99_ms, health_p99_ms } = found;
  const beside = "beside another's worst bodies, p99";
  return [
    { title: `calls ${beside}`, measured: calls_p99_ms, unit: 'ms', ...tenantBars.calls },
    { title: `/healthz ${beside}`, measured: health_p99_ms, unit: 'ms', ...tenantBars.health },
  ];
}

function callbacks({ callbacks: found }: Results): Bar[] {
  if (found === null) return [];
  const { per_second, calls_p99_ms } = found;
  return [
    {
      title: 'callbacks a second',
      measured: per_second,
      unit: '/s',
      ...callbackBars.per_second,
      at_least: true,
    },
    { title: 'calls beside them, p99', measured: calls_p99_ms, unit: 'ms', ...callbackBars.calls },
  ];
}

function latency(results: Results): Bar[] {
  const figures = results.figures.get('latency');
  const bare = figures?.get('bare');
  const gateway = figures?.get('gateway');
  if (bare === undefined || gateway === undefined || results.disk === null) return [];
  const { disk } = results;
  const lines = (bars: { bar: number; goal: number }, sync_ms: number) => ({
    bar: bars.bar + sync_ms,
    goal: bars.goal + sync_ms,
  });
  return [
    {
      title: 'latency beyond bare proxy at 100/s, p50 (fdatasync allowed for)',
      measured: gateway.p50_ms - bare.p50_ms,
      unit: 'ms',
      ...lines(latencyBars.p50, disk.p50_ms),
    },
    {
      title: 'latency beyond bare proxy at 100/s, p99 (fdatasync allowed for)',
      measured: gateway.p99_ms - bare.p99_ms,
      unit: 'ms',
      ...lines(latencyBars.p99, disk.p99_ms),
    },
  ];
}

function memory(results: Results): Bar[] {
  const bare = results.idle.find((f) => f.name === 'bare');
  const gateway = results.idle.find((f) => f.name === 'gateway');
  if (bare === undefined || gateway === undefined) return [];
  return [
    { title: 'memory of an idle stream', measured: gateway.kb_per_stream, unit: 'KB', ...idleStreamKb },
    {
      title: 'the same to the bare proxy',
      measured: gateway.kb_per_stream / bare.kb_per_stream,
      unit: 'x',
      ...idleStreamRatio,
    },
    { title: 'resident memory of an idle gateway', measured: gateway.rest_mb, unit: 'MB', ...idleGatewayMb },
  ];
}

function concurrent(results: Results): Bar[] {
  const bare = results.concurrent.find((f) => f.name === 'bare');
  const gateway = results.concurrent.find((f) => f.name === 'gateway');
  if (bare === undefined || gateway === undefined) return [];
  return [
    {
      title: 'concurrent streams: CPU of a chunk to bare proxy',
      measured: gateway.cpu_us / bare.cpu_us,
      unit: 'x',
      ...concurrentBars.cpu,
    },
    {
      title: 'concurrent streams: peak memory of a stream',
      measured: gateway.kb_per_stream,
      unit: 'KB',
      ...concurrentBars.kb,
    },
  ];
}

function pairs(results: Results): Bar[] {
  return results.pairs.flatMap(({ name, spread, load, pairs_per_s, postgres_us }) => {
    const title = `hold + settle pairs, ${name}`;
    const cpu = { title: `${title}: PostgreSQL CPU`, measured: postgres_us, unit: 'µs' };
    if (load === 'few') return [{ ...cpu, ...fewPairsPostgres[spread] }];
    if (load !== 'full') return [];
    return [
      { title, measured: pairs_per_s, unit: '/s', at_least: true, ...pairsPerSecond[spread] },
      { ...cpu, ...pairPostgres[spread] },
    ];
  });
}

function allocation({ allocation: found }: Results): Bar[] {
  const gateway = found.find(({ name }) => name === 'gateway');
  if (gateway === undefined) return [];
  return [{ title: 'young heap of a plain call', measured: gateway.kb, unit: 'KB', ...allocatedKb }];
}

function postgres({ figures, stored_rows }: Results): Bar[] {
  const waiting = figures.get('waiting')?.get('gateway');
  const bars: Bar[] = [];
  if (waiting !== undefined) {
    const title = 'PostgreSQL CPU per call, 2,000 in flight';
    bars.push({ title, measured: waiting.postgres_us, unit: 'µs', ...waitingPostgres });
  }
  if (stored_rows !== null) {
    const title = 'PostgreSQL CPU of storing the row of a call';
    bars.push({ title, measured: stored_rows.postgres_us, unit: 'µs', ...storedRow });
  }
  return bars;
}

function decisions(results: Results): Bar[] {
  return Object.entries(results.decisions).map(([kind, measured]) => {
    return { title: `decision over 1,000 endpoints ${kind}`, measured, unit: 'µs', ...routingUs };
  });
}

/** Every bar for which this run has a figure. */
export function barsOf(results: Results): Bar[] {
  return [
    ...ratios(results),
    ...tenants(results),
    ...callbacks(results),
    ...postgres(results),
    ...allocation(results),
    ...latency(results),
    ...memory(results),
    ...concurrent(results),
    ...pairs(results),
    ...decisions(results),
  ];
}
