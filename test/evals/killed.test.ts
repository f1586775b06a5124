// Workers killed (`kill -9`) while a run is under way, sixteen calls at once, by a provider that reports three times what they
// can cost: the run stays within its budget, no call is charged twice, and the answers are those of a run without kills.
import { expect, test, vi } from 'vitest';
import type { Json } from '../calls/caller.ts';
import { answering, askedOf, chargedFor, startEvalWorld } from './world.ts';

/** `KILLS=30` (`make evals-killed`) is the long form; the suite has no time for it. */
const KILLS = Number(process.env['KILLS'] ?? 3);
// A worker that was killed is missed after thirty seconds.
vi.setConfig({ testTimeout: 160_000 + 60_000 * KILLS });
const CASES = 20 * (KILLS + 3);
const BUDGET = 450 * CASES;
const world = await startEvalWorld();

const cases = Array.from({ length: CASES }, (_, n) => ({
  input: {
    messages: [{ role: 'user', content: `${'lorem ipsum dolor '.repeat(40)} ${n}` }],
    generation: { max_tokens: 16 },
  },
  grader: { kind: 'exact', expected: `${n % 3}` },
}));
const say = (asked: string) => String(Number(asked.match(/\d+$/)?.[0]) % 2);

/** What of a run must not depend on kills. */
function gist(results: readonly Json[]): string[] {
  return results
    .map(({ case_id, status, score, output, cost_micro }) =>
      JSON.stringify({ case_id, status, score, output, cost_micro }),
    )
    .sort();
}

async function runOf(kills: number) {
  const org = await world.org(50_000_000);
  const model = world.model('script');
  world.script.on(
    model.upstream,
    'a',
    answering(say, (asked) => ({ input: asked.length, output: 16 })),
  );
  const suite = await world.rest(org.live_key, 'POST', '/v1/evals/suites', { name: 'Killed', cases });
  let worker = await world.worker();
  const made = await world.rest(org.live_key, 'POST', '/v1/evals/runs', {
    ...{ suite_id: suite.json['id'], targets: [{ model: model.id }] },
    ...{ budget_micro: BUDGET, concurrency: 16 },
  });
  const run_id = made.json['run']['id'];
  for (let n = 1; n <= kills; n++) {
    const before = world.script.received(model.upstream).length;
    const more = () => world.script.received(model.upstream).length > before + 5;
    await expect.poll(more, { timeout: 90_000, interval: 5 }).toBe(true);
    await worker.kill();
    worker = await world.worker();
    if (kills > 3) process.stdout.write(`kill ${n} of ${kills}, ${before} calls made\n`);
  }
  const ended = await world.ended(org.live_key, run_id, 150_000 + 15_000 * kills);
  await worker.stop();
  const asked = world.script.received(model.upstream).map(({ body }) => askedOf(body));
  return {
    ended,
    asked,
    results: await world.results(org.live_key, run_id),
    ...(await chargedFor(world, org)),
  };
}

test('a run whose workers are killed ends like one whose worker lived, within its budget', async () => {
  const calm = await runOf(0);
  expect(calm.ended).toMatchObject({ status: 'stopped', stop_reason: 'budget' });
  expect(calm.ended['counts']['skipped']).toBeGreaterThan(0);
  const killed = await runOf(KILLS);
  process.stdout.write(
    `${KILLS} kills, ${CASES} cases, 16 at once: ${killed.charged} of ${BUDGET} micro-USD, ` +
      `${killed.ended['written_off_micro']} written off, ${killed.calls} calls, ${killed.asked.length} asked for\n`,
  );
  for (const { ended, asked, results, charged, calls } of [calm, killed]) {
    // No case reaches the provider a second time, whenever the worker that asked for it died.
    expect(asked).toHaveLength(new Set(asked).size);
    expect(charged).toBe(ended['cost_micro']);
    expect(charged).toBeLessThanOrEqual(BUDGET);
    expect(ended['written_off_micro']).toBeGreaterThan(0);
    const answered = results.filter(({ status }) => status !== 'skipped');
    expect(new Set(answered.map(({ request_id }) => request_id)).size).toBe(calls);
    expect(answered).toHaveLength(calls);
    expect(results).toHaveLength(CASES);
  }
  expect(gist(killed.results)).toEqual(gist(calm.results));
});
