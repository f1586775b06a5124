// Metrics of the jobs for a Prometheus registry, read at the scrape; the same names in every program that runs jobs.
import type { Registry } from 'prom-client';
import { byLabel, type Figure, type Reading, registerFigures } from '../kernel/index.ts';
import type { Jobs } from './jobs.ts';

interface JobCounts {
  readonly runs: number;
  readonly failures: number;
  readonly misses: number;
  readonly succeeded_at_ms: number | null;
}

const counter = (name: string, help: string, read: Figure['read']): Figure => ({
  ...{ name, help, read },
  type: 'counter',
});
const gauge = (name: string, help: string, read: Figure['read']): Figure => ({
  ...{ name, help, read },
  type: 'gauge',
});

const railSilence = (jobs: Jobs): Figure =>
  gauge(
    'svc_rail_silent_seconds',
    'Seconds that a rail has reported nothing while a payment was waited for; only where jobs run.',
    () => byLabel('rail', Object.entries(jobs.silences ?? {})),
  );

const moves = (jobs: Jobs): Figure =>
  gauge(
    'svc_ledger_move_seconds',
    'Seconds since a move of a ledger was begun that has not ended; only where jobs run.',
    () => byLabel('shard', Object.entries(jobs.moves ?? {})),
  );

const certificateFigures = (jobs: Jobs): Figure[] => [
  gauge(
    'svc_storefront_certificates',
    'Certificates of storefront domains that we get, by state; only where jobs run.',
    () => byLabel('state', Object.entries((jobs.leading && jobs.certificates.counts) || {})),
  ),
  counter('svc_storefront_certificate_attempts_total', 'What was asked of the authority by outcome.', () =>
    byLabel('outcome', jobs.certificates.outcomes),
  ),
];

const secondsOf = (ms: number | undefined) => (ms === undefined ? null : ms / 1_000);

const mailFigures = (jobs: Jobs): Figure[] => [
  gauge(
    'svc_mails_waiting',
    'Mails that wait for a mail server; only where jobs run.',
    () => jobs.mails?.waiting,
  ),
  gauge('svc_mails_oldest_seconds', 'Age of the oldest of them; only where jobs run.', () =>
    secondsOf(jobs.mails?.oldest_ms),
  ),
];

/** Registers runs, failures and last success of each job, who leads, what waits, and attempts by outcome. */
export function registerJobMetrics(registry: Registry, jobs: Jobs): void {
  const each = (figure: (job: JobCounts) => number | null): Reading[] =>
    byLabel(
      // Not `job`, which Prometheus adds to every series itself.
      'name',
      [...jobs.counts].flatMap(([job, counts]) => {
        const value = figure(counts);
        return value === null ? [] : [[job, value] as const];
      }),
    );
  registerFigures(registry, [
    counter('svc_job_runs_total', 'Runs of periodic jobs in this process.', () => each(({ runs }) => runs)),
    counter('svc_job_failures_total', 'Runs that failed.', () => each(({ failures }) => failures)),
    gauge('svc_job_misses', 'Runs that failed since one did not, where jobs run.', () =>
      each(({ misses }) => misses),
    ),
    gauge('svc_job_last_success_timestamp_seconds', 'When a job last succeeded in this process.', () =>
      each(({ succeeded_at_ms }) => (succeeded_at_ms === null ? null : succeeded_at_ms / 1_000)),
    ),
    gauge('svc_jobs_leading', '1 in the process that runs the jobs, else 0.', () => Number(jobs.leading)),
    gauge(
      'svc_outbox_waiting',
      'Events not yet relayed to webhooks; only where jobs run.',
      () => jobs.backlog?.waiting,
    ),
    gauge('svc_outbox_oldest_seconds', 'Age of the oldest of them; only where jobs run.', () =>
      secondsOf(jobs.backlog?.oldest_ms),
    ),
    gauge(
      'svc_ledger_orders_waiting',
      'Orders to ledgers not yet carried out; only where jobs run.',
      () => jobs.orders?.waiting,
    ),
    gauge('svc_ledger_orders_oldest_seconds', 'Age of the oldest of them; only where jobs run.', () =>
      secondsOf(jobs.orders?.oldest_ms),
    ),
    gauge(
      'svc_books_low',
      'Live books whose balance is below the mark of credits.low; only where jobs run.',
      () => jobs.low_books,
    ),
    moves(jobs),
    railSilence(jobs),
    ...mailFigures(jobs),
    counter('svc_mail_attempts_total', 'Attempts to send mails by outcome.', () =>
      byLabel('outcome', jobs.mail_outcomes),
    ),
    ...certificateFigures(jobs),
    counter('svc_webhook_attempts_total', 'Attempts to deliver webhooks by outcome.', () =>
      byLabel('outcome', jobs.deliverer.outcomes),
    ),
    gauge(
      'svc_webhook_attempts_running',
      'Attempts to deliver webhooks under way.',
      () => jobs.deliverer.in_flight,
    ),
  ]);
}
