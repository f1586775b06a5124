// Prometheus metrics of the parts that run calls: limits, ledger, upstream connections, logs. Collected at each scrape.
import type { CallDeps } from '@svc/core/inference/index.ts';
import { byLabel, type Figure, nowMs, type Reading } from '@svc/core/kernel/index.ts';
import type { LedgerFigures, Ledgers } from '@svc/core/ledger/index.ts';
import type { PayloadLog } from '@svc/core/payloads/index.ts';
import type { Base } from '@svc/http/index.ts';
import { registerSpreads } from './plain.ts';

interface Parts {
  readonly ledgers: Ledgers;
  readonly payloads: PayloadLog;
  readonly calls: CallDeps;
}

type Read = Figure['read'];

function gauge(name: string, help: string, read: Read): Figure {
  return { name: `svc_${name}`, help, type: 'gauge', read };
}

function counter(name: string, help: string, read: Read): Figure {
  return { name: `svc_${name}_total`, help, type: 'counter', read };
}

/** Registers them on the metrics listener of `base`. */
export function watchEngine(base: Base, parts: Parts): void {
  const { metrics } = base;
  metrics.watch([...ofCalls(base, parts), ...ofUpstream(parts), ...ofLedger(parts)]);
  registerSpreads(
    metrics.registry,
    'svc_settle_delay_seconds',
    'Seconds from the end of a call to the commit of its settle, by shard.',
    () => [...parts.ledgers.figures].map(([shard, { settle_delays }]) => [{ shard }, settle_delays]),
  );
  registerSpreads(
    metrics.registry,
    'svc_redis_script_duration_seconds',
    'Seconds until Redis answered a script of the limits, or failed.',
    () =>
      [...(base.rate.limits.redis_figures?.durations ?? [])].map(([script, spread]) => [{ script }, spread]),
  );
}

function ofCalls({ services, rate: { limits } }: Base, { calls, payloads }: Parts): Figure[] {
  const { request_log } = services;
  return [
    gauge('calls_running', 'Calls under way.', () => calls.ticker.size),
    gauge('shadows_running', 'Copies for shadows that are kept or under way.', () => calls.shadows.size),
    counter('shadows', 'Calls that were drawn for a shadow, by what became of the copy.', () =>
      byLabel('outcome', calls.shadows.outcomes),
    ),
    gauge(
      'limits_local_share',
      '1 while Redis is lost and each process keeps to its share of a limit.',
      () => (limits.mode === 'exact' ? 0 : 1),
    ),
    counter(
      'redis_script_failures',
      'Scripts of the limits that Redis did not answer, or with an error.',
      () => byLabel('script', limits.redis_figures?.failures ?? []),
    ),
    gauge('limit_processes', 'Processes that share the limits.', () => limits.processes),
    counter(
      'rows_lost',
      'Request rows that could be kept neither in the database nor on disk.',
      () => request_log.lost,
    ),
    counter(
      'payloads_dropped',
      'Logged contents that were dropped, the queue being full.',
      () => payloads.dropped,
    ),
    gauge(
      'payloads_waiting_bytes',
      'Logged contents that wait for the database.',
      () => payloads.waiting_bytes,
    ),
  ];
}

// Not the label `endpoint`, which a ServiceMonitor adds to every series itself.
function ofUpstream({ calls: { health, credentials, transport } }: Parts): Figure[] {
  return [
    gauge('upstream_connections', 'Open connections to providers.', () => transport.connections()),
    gauge(
      'circuits_open',
      'For how many organizations the circuit of an endpoint is open or half open.',
      () =>
        byLabel(
          'endpoint_id',
          health.open().map(({ endpoint_id, orgs }) => [endpoint_id, orgs]),
        ),
    ),
    gauge(
      'circuits_open_for_all',
      '1 for each endpoint whose circuit is open or half open for everybody.',
      () =>
        byLabel(
          'endpoint_id',
          health
            .open()
            .flatMap(({ endpoint_id, everybody }) => (everybody ? [[endpoint_id, 1] as const] : [])),
        ),
    ),
    gauge('endpoints_resting', '1 for each endpoint that asked to be left alone for now.', () =>
      byLabel(
        'endpoint_id',
        health.resting(nowMs()).map((id) => [id, 1]),
      ),
    ),
    gauge(
      'provider_keys_resting',
      'Keys of the pool that a provider refused or throttled, and that are not used for a while.',
      () => byLabel('provider', credentials.resting(nowMs())),
    ),
    gauge(
      'endpoints_without_usage',
      'Endpoints whose answers lack usage.',
      () => health.flagged(nowMs()).length,
    ),
    gauge(
      'endpoints_without_model',
      'Endpoints whose provider does not know their model.',
      () => health.withoutModel(nowMs()).length,
    ),
  ];
}

function ofLedger({ ledgers }: Parts): Figure[] {
  const byShard = (read: (figures: LedgerFigures) => number) =>
    byLabel(
      'shard',
      [...ledgers.figures].map(([shard, figures]) => [shard, read(figures)] as const),
    );
  const byBatcher = (name: 'sent' | 'items'): Reading[] =>
    [...ledgers.figures].flatMap(([shard, { batches }]) =>
      Object.entries(batches).map(([batcher, counts]) => ({
        value: counts[name],
        labels: { shard, batcher },
      })),
    );
  return [
    gauge('settles_pending', 'Settles that PostgreSQL has not acknowledged.', () => ledgers.pending),
    gauge('settles_journaled', 'Settles on disk that PostgreSQL has not booked.', () =>
      byShard(({ journaled }) => journaled),
    ),
    gauge('ledger_shards_away', '1 for a ledger that the last flush did not reach, else 0.', () => {
      const { away } = ledgers;
      return byLabel(
        'shard',
        [...ledgers.figures].map(([shard]) => [shard, Number(away.includes(shard))] as const),
      );
    }),
    counter('ledger_batches', 'Batches sent to PostgreSQL.', () => byBatcher('sent')),
    counter('ledger_batch_items', 'Holds and settles in these batches.', () => byBatcher('items')),
  ];
}
