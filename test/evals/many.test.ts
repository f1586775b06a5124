// A run of many answers: neither the worker nor a history of it grows with their number. `ANSWERS=10000` (`make evals-many`) is
// the long form; the suite has no time for it. `RECORD_HISTORIES=1` writes the history that begins after another, which
// test/workflows/replay.test.ts replays.
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { writeHistory } from '../workflows/history.ts';
import { answering, chargedFor, startEvalWorld } from './world.ts';

const ANSWERS = Number(process.env['ANSWERS'] ?? 300);
vi.setConfig({ testTimeout: 150_000 + 150 * ANSWERS });
const world = await startEvalWorld();
const histories = new URL('../../workflows/eval-run/histories/', import.meta.url).pathname;
/** A suite holds no more; more answers are repeats. */
const REPEAT = Math.ceil(ANSWERS / 5_000);
const CASES = Math.floor(ANSWERS / REPEAT);
const EVENTS_MAX = 200;
const GROWTH_MAX_MB = 96;

function memoryMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(status.match(/VmRSS:\s+(\d+)/)?.[1]) / 1_024;
}

/** The histories of a run, in their order: each but the last was continued as a new one. */
async function historiesOf(client: Client, run_id: string): Promise<object[]> {
  const whole: object[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "eval-${run_id}"` })) {
    whole.unshift(await client.workflow.getHandle(`eval-${run_id}`, runId).fetchHistory());
  }
  return whole;
}

test('memory and histories stay small however many answers a run has', async () => {
  const org = await world.org(1_000_000_000);
  const model = world.model('script');
  world.script.on(
    model.upstream,
    'a',
    answering(
      () => 'yes',
      () => ({ input: 12, output: 1 }),
    ),
  );
  const cases = Array.from({ length: CASES }, (_, n) => ({
    input: {
      messages: [{ role: 'user', content: `${'lorem ipsum dolor '.repeat(20)} ${n}` }],
      generation: { max_tokens: 16 },
    },
    grader: { kind: 'exact', expected: 'yes' },
  }));
  const suite = await world.rest(org.live_key, 'POST', '/v1/evals/suites', { name: 'Many', cases });
  const worker = await world.worker();
  const made = await world.rest(org.live_key, 'POST', '/v1/evals/runs', {
    ...{ suite_id: suite.json['id'], targets: [{ model: model.id }] },
    ...{ budget_micro: 900_000_000, concurrency: 16, repeat: REPEAT },
  });
  const run_id = made.json['run']['id'];
  const started = performance.now();
  const memory_mb: number[] = [];
  const timer = setInterval(() => void memory_mb.push(memoryMb(worker.pid)), 100);
  const ended = await world.ended(org.live_key, run_id, 100_000 + 120 * ANSWERS);
  clearInterval(timer);
  // A young process grows with what it loads; what is kept of answers grows with them to the end.
  const half = Math.floor(memory_mb.length / 2);
  const [first_mb, most_mb] = [memory_mb.slice(0, half), memory_mb].map((all) => Math.max(...all)) as [
    number,
    number,
  ];
  const total = CASES * REPEAT;
  expect(ended).toMatchObject({ status: 'completed', counts: { total, done: total, passed: total } });
  expect(await chargedFor(world, org)).toEqual({ charged: ended['cost_micro'], calls: total });

  const connection = await Connection.connect({ address: world.temporal.address });
  atFileEnd(() => connection.close());
  const client = new Client({ connection, namespace: world.temporal.namespace });
  const workflow = client.workflow.getHandle(`eval-${run_id}`);
  await expect
    .poll(async () => (await workflow.describe()).status.name, { timeout: 60_000 })
    .toBe('COMPLETED');
  // What is listed comes a moment after what has happened.
  const expected = Math.ceil(total / 2_000);
  await expect
    .poll(async () => (await historiesOf(client, run_id)).length, { timeout: 60_000 })
    .toBe(expected);
  const all = (await historiesOf(client, run_id)) as { events: object[] }[];
  const events = all.map((history) => history.events.length);
  const took_s = (performance.now() - started) / 1_000;
  process.stdout.write(
    `${total} answers in ${took_s.toFixed(0)} s: worker ${first_mb.toFixed(0)} MB in the first half, ${most_mb.toFixed(0)} MB in all, ` +
      `${all.length} histories of at most ${Math.max(...events)} events\n`,
  );
  expect(Math.max(...events)).toBeLessThan(EVENTS_MAX);
  expect(most_mb - first_mb).toBeLessThan(GROWTH_MAX_MB);
  if (process.env['RECORD_HISTORIES'] === '1' && all.length > 1) {
    writeHistory(`${histories}continued.json`, all.at(-1) as object);
  }
  expect(await worker.stop()).toBe(0);
});
