// The jobs as a program runs them: what they do by themselves, and what their figures say.
import type { ServerResponse } from 'node:http';
import { openEgress } from '@svc/core/egress/index.ts';
import { readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { openMailTransport } from '@svc/core/mail/index.ts';
import { type Jobs, registerJobMetrics, startJobs } from '@svc/core/operations/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startReceiver } from './receiver.ts';
import { LOCAL, startWorld } from './world.ts';

interface Program {
  readonly jobs: Jobs;
  /** Samples of its metrics by name with labels. */
  figures(): Promise<Map<string, number>>;
}

const world = await startWorld();
const mail = await openMailTransport(readConfig());
const running: Program[] = [];
const start = (): Program => {
  const config = readConfig(LOCAL);
  const jobs = startJobs({
    ...{
      pool: world.pool,
      direct_url: world.url,
      log: silentLog,
      request_log: { write() {}, async flush() {} },
      cell: 'test',
    },
    ...{ money_in: openMoneyIn(config), root_key: Buffer.alloc(32, 7), egress: openEgress(config) },
    mail,
  });
  atFileEnd(() => jobs.stop());
  const registry = new Registry();
  registerJobMetrics(registry, jobs);
  const figures = async () =>
    new Map(
      (await registry.metrics())
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line): [string, number] => {
          const [name, value] = line.split(' ') as [string, string];
          return [name, Number(value)];
        }),
    );
  const program = { jobs, figures };
  running.push(program);
  return program;
};

test('a fact is delivered by the jobs alone, and figures tell who leads, what ran and what came of it', async () => {
  const tenant = await world.tenant('jobs');
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  const leader = start();
  await expect.poll(() => leader.jobs.leading, { timeout: 10_000 }).toBe(true);
  const other = start();
  await tenant.tell('topup.completed', { n: 1 });
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);
  expect(receiver.verified(hook.secret)).toMatchObject([{ type: 'topup.completed', data: { n: 1 } }]);
  await expect
    .poll(async () => (await leader.figures()).get('svc_webhook_attempts_total{outcome="delivered"}'))
    .toBe(1);
  // The first run of each job ends in its own time, and what waits is measured each five seconds.
  const done = new Map([...leader.jobs.counts.keys()].map((job) => [job, true]));
  await expect
    .poll(() => new Map([...leader.jobs.counts].map(([job, count]) => [job, count.succeeded_at_ms !== null])))
    .toEqual(done);
  await expect
    .poll(async () => (await leader.figures()).get('svc_outbox_waiting'), { timeout: 20_000 })
    .toBe(0);
  await expect
    .poll(async () => (await leader.figures()).get('svc_ledger_orders_waiting'), { timeout: 20_000 })
    .toBe(0);
  await expect.poll(() => leader.jobs.deliverer.in_flight).toBe(0);

  const figures = await leader.figures();
  expect(figures.get('svc_jobs_leading')).toBe(1);
  expect(figures.get('svc_outbox_waiting')).toBe(0);
  expect(figures.get('svc_outbox_oldest_seconds')).toBe(0);
  expect(figures.get('svc_webhook_attempts_running')).toBe(0);
  for (const job of leader.jobs.counts.keys()) {
    expect([job, figures.get(`svc_job_runs_total{name="${job}"}`)]).toEqual([job, expect.any(Number)]);
    expect([job, figures.get(`svc_job_failures_total{name="${job}"}`)]).toEqual([job, 0]);
    const last = figures.get(`svc_job_last_success_timestamp_seconds{name="${job}"}`);
    expect([job, Math.abs((last as number) - Date.now() / 1_000) < 60]).toEqual([job, true]);
  }
  const idle = await other.figures();
  expect(idle.get('svc_jobs_leading')).toBe(0);
  expect(idle.has('svc_outbox_waiting')).toBe(false);
  expect(idle.get('svc_job_runs_total{name="relay_outbox"}')).toBe(0);
});

test('a leader that stops finishes what it has under way, and another goes on with the rest', async () => {
  const tenant = await world.tenant('stopping');
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  const leading = running.filter(({ jobs }) => jobs.leading);
  expect(leading).toHaveLength(1);
  const waiting: ServerResponse[] = [];
  receiver.answer((response) => void waiting.push(response));
  for (let n = 0; n < 6; n++) await tenant.tell('topup.completed', { n });
  await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(4);
  const stopped = leading[0]!.jobs.stop();
  receiver.answer((response) => void response.writeHead(204).end());
  for (const response of waiting) response.writeHead(204).end();
  await stopped;
  expect(leading[0]!.jobs.deliverer.in_flight).toBe(0);
  const taken = (await tenant.log(hook.id)).filter(({ status }) => status === 'delivered');
  expect(taken.length).toBeGreaterThanOrEqual(4);
  await expect
    .poll(async () => (await tenant.log(hook.id)).every(({ status }) => status === 'delivered'), {
      timeout: 10_000,
    })
    .toBe(true);
  expect(receiver.received).toHaveLength(6);
});
