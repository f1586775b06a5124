// Figures of the jobs for a Prometheus registry, read at the scrape; the same names in every program that runs jobs.
import type { Metric, Registry } from 'prom-client';
import type { Jobs } from './jobs.ts';

interface Figure {
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

function register(
  registry: Registry,
  metric: { name: string; help: string; type: 'counter' | 'gauge'; read: () => readonly Figure[] },
): void {
  const { read, ...facts } = metric;
  // A registry asks of a metric no more than this; prom-client itself is not loaded where nothing is measured.
  registry.registerMetric({
    ...facts,
    get: () => ({ ...facts, aggregator: 'sum', values: read() }),
  } as unknown as Metric);
}

/** Registers runs, failures and last success of each job, who leads, the backlogs of outbox and orders, and deliveries by outcome. */
export function registerJobMetrics(registry: Registry, jobs: Jobs): void {
  const each = (
    figure: (job: { runs: number; failures: number; succeeded_at_ms: number | null }) => number | null,
  ) =>
    [...jobs.counts].flatMap(([job, counts]) => {
      const value = figure(counts);
      return value === null ? [] : [{ value, labels: { job } }];
    });
  const one = (value: number | null | undefined) =>
    typeof value === 'number' ? [{ value, labels: {} }] : [];
  const counter = (name: string, help: string, read: () => readonly Figure[]) =>
    register(registry, { name, help, type: 'counter', read });
  const gauge = (name: string, help: string, read: () => readonly Figure[]) =>
    register(registry, { name, help, type: 'gauge', read });

  counter('svc_job_runs_total', 'Runs of periodic jobs in this process.', () => each(({ runs }) => runs));
  counter('svc_job_failures_total', 'Runs that failed.', () => each(({ failures }) => failures));
  gauge('svc_job_last_success_timestamp_seconds', 'When a job last ended well in this process.', () =>
    each(({ succeeded_at_ms }) => (succeeded_at_ms === null ? null : succeeded_at_ms / 1_000)),
  );
  gauge('svc_jobs_leading', '1 in the process that runs the jobs, else 0.', () => one(Number(jobs.leading)));
  gauge('svc_outbox_waiting', 'Facts not yet relayed to webhooks; only where jobs run.', () =>
    one(jobs.backlog?.waiting),
  );
  gauge('svc_outbox_oldest_seconds', 'Age of the oldest of them; only where jobs run.', () =>
    one(jobs.backlog === null ? null : jobs.backlog.oldest_ms / 1_000),
  );
  gauge('svc_ledger_orders_waiting', 'Orders to ledgers not yet carried out; only where jobs run.', () =>
    one(jobs.orders?.waiting),
  );
  gauge('svc_ledger_orders_oldest_seconds', 'Age of the oldest of them; only where jobs run.', () =>
    one(jobs.orders === null ? null : jobs.orders.oldest_ms / 1_000),
  );
  counter('svc_webhook_attempts_total', 'Attempts to deliver webhooks by outcome.', () =>
    [...jobs.deliverer.outcomes].map(([outcome, value]) => ({ value, labels: { outcome } })),
  );
  gauge('svc_webhook_attempts_running', 'Attempts to deliver webhooks under way.', () =>
    one(jobs.deliverer.in_flight),
  );
}
