// Which cases of a run get their calls where a database answers some lookups later than others.
import { runPage } from '@svc/core/evals/index.ts';
import type { Services } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';
import { watchedPool } from '../support/watched-pool.ts';

const harness = await startHarness();
const MODEL = 'openai/gpt-4o-mini';
const SLOW_MS = 100;

function caseOf(n: number) {
  const messages = [{ role: 'user', content: `Number ${n}` }];
  return { id: `case ${n}`, input: { messages }, grader: { kind: 'exact', expected: 'yes' } };
}

test('calls of a page begin in the order of its cases, also where the first waits longest for its prices', async () => {
  const { test_key } = harness.a;
  const cases = Array.from({ length: 8 }, (_, n) => caseOf(n));
  const suite = await harness.call('POST', '/v1/evals/suites', {
    key: harness.a.key,
    body: { name: 'Order', cases },
  });
  const made = await harness.call('POST', '/v1/evals/runs', {
    key: test_key,
    body: {
      ...{ suite_id: suite.json().id, targets: [{ model: MODEL }] },
      ...{ budget_micro: 1_000_000, concurrency: 8 },
    },
  });
  const asked: unknown[] = [];
  const eval_gateway: Services['eval_gateway'] = {
    async call({ body }) {
      asked.push((body['messages'] as { content: unknown }[])[0]?.content);
      const nothing = { request_id: '', usage: null, ttft_ms: null, duration_ms: null };
      return { kind: 'answer', ...nothing, text: 'yes', cost_micro: 1, written_off_micro: 0 };
    },
  };
  let lookups = 0;
  const slowFirst = watchedPool(harness.pool, 'catalog.tier_of_org', (name) => {
    if (name !== 'catalog.tier_of_org' || lookups++ > 0) return undefined;
    return new Promise((done) => setTimeout(done, SLOW_MS));
  });
  const context = createContext({
    ...{ request_id: harness.context.request_id, caller: { kind: 'public' }, log: harness.context.log },
    pool: slowFirst.db,
    services: {
      ...{ catalog: harness.catalog, root_key: harness.root_key, eval_gateway },
    } as unknown as Services,
  });
  const page = await runPage(context, { run_id: made.json().run.id, from: 0 }, () => {});
  expect(page).toMatchObject({ answers: 8, stopped: false });
  expect(lookups).toBeGreaterThanOrEqual(8);
  expect(asked.map(String)).toEqual(cases.map(({ input }) => input.messages[0]?.content));
});
