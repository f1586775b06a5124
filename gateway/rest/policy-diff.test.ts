// What a policy would change: calls that were made, routed again under both.
import { beforeAll, expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';

const harness = await startHarness();
const { a, b } = harness;
const LARGE = 'openai/gpt-4o';
const SMALL = 'openai/gpt-4o-mini';

const ask = async (body: object, name = 'candidate') =>
  harness.call('POST', `/v1/policies/${name}/diff`, { key: a.test_key, body });

/** Calls of the sandbox that were answered, with 1,000 tokens in and 100 out. */
async function called(count: number, more: object = {}): Promise<void> {
  for (let i = 0; i < count; i++) {
    const used = { input_tokens: 1_000, output_tokens: 100, model: LARGE };
    harness.request_log.write(rowOf(a, { environment: 'test', project_id: a.test.id, ...used, ...more }));
  }
  await harness.request_log.flush();
}

/** A text under which calls of the large model are answered by the small one. */
let cheaper = '';
beforeAll(async () => {
  const dry = await harness.call('POST', '/v1/policies/x/dry-run', {
    key: a.test_key,
    body: { model: LARGE, yaml: 'sort: price' },
  });
  const { plan } = dry.json() as { plan: { endpoint_id: string }[] };
  const ids = plan.map(({ endpoint_id }) => endpoint_id).join(', ');
  cheaper = `defaults: {endpoints: {ignore: [${ids}]}, fallback_models: [${SMALL}]}`;
});

test('calls that would go elsewhere are counted, and the difference is that of the prices of both to the micro-dollar', async () => {
  await called(30);
  await called(3, { model: SMALL });
  // Not answered, paid by an own key, live, and of a model that is gone: none is compared.
  await called(2, { status: 'error', http_status: 502, error_code: 'upstream_error' });
  await called(2, { byok: true });
  await called(2, { environment: 'live' });
  await called(2, { model: 'acme/gone' });
  const { from: _, to: __, ...diff } = (await ask({ yaml: cheaper })).json();
  // 1,000 in and 100 out: 3,500 micro-USD at the large model, 210 at the small one.
  expect(diff).toMatchObject({
    ...{ policy: 'candidate', version: 0, calls: 35, compared: 33, moved: 30, newly_refused: 0 },
    ...{ before_micro_usd: 30 * 3_500 + 3 * 210, after_micro_usd: 33 * 210 },
    difference_micro_usd: 30 * (210 - 3_500),
  });
  // The sandbox has two equal endpoints of each model, over which calls are spread.
  expect(diff.moves.length).toBeGreaterThan(0);
  for (const move of diff.moves) {
    expect(move).toMatchObject({ model: LARGE, from: { provider: 'sandbox' }, to: { provider: 'sandbox' } });
    expect(move.difference_micro_usd).toBe(move.calls * (210 - 3_500));
  }
});

test('the same policy moves nothing, and one that denies refuses what was answered', async () => {
  const same = (await ask({ yaml: 'description: as built in' })).json();
  expect(same).toMatchObject({ compared: 33, moved: 0, difference_micro_usd: 0, moves: [] });
  const closed = (await ask({ yaml: `rules: [{match: {models: ["${LARGE}"]}, deny: {}}]` })).json();
  expect(closed).toMatchObject({ moved: 30, newly_refused: 30, after_micro_usd: 3 * 210 });
  for (const move of closed.moves) expect(move).toMatchObject({ model: LARGE, to: null, after_micro_usd: 0 });
});

test('a project with a policy of its own is no part of the organization, and is compared with its own', async () => {
  const made = await harness.call('POST', '/v1/policies', {
    ...{ key: a.test_key, body: { name: 'own', yaml: cheaper } },
  });
  expect(made.statusCode).toBe(201);
  const scope = { project_id: a.test.id };
  const active = await harness.call('POST', '/v1/policies/own/activate', {
    ...{ key: a.test_key, body: { version: 1, scope } },
  });
  expect(active.statusCode).toBe(200);
  expect((await ask({ yaml: 'sort: price' })).json()).toMatchObject({ calls: 0, compared: 0, moves: [] });
  const back = (await ask({ yaml: 'sort: price', scope })).json();
  expect(back).toMatchObject({ moved: 30, difference_micro_usd: 30 * (3_500 - 210) });
  expect((await ask({ version: 1, scope }, 'own')).json()).toMatchObject({ version: 1, moved: 0 });
});

test('a faulty text, an unknown policy, another project and a range beyond a day are refused', async () => {
  const codes = await Promise.all(
    [
      [{ yaml: 'sort: slow' }, 'candidate'],
      [{}, 'nobody'],
      [{ yaml: 'sort: price', scope: { project_id: b.live.id } }, 'candidate'],
      [{ yaml: 'sort: price', hours: 25 }, 'candidate'],
      [{ yaml: 'sort: price', version: 1 }, 'own'],
    ].map(async ([body, name]) => codeOf(await ask(body as object, name as string))),
  );
  expect(codes).toEqual([
    ...['invalid_policy', 'not_found', 'not_found', 'invalid_request', 'invalid_request'],
  ]);
});

test('only the newest 1,000 calls are compared, and all are counted', async () => {
  await called(1_010, { project_id: a.live.id });
  const many = (await ask({ yaml: cheaper })).json();
  expect(many).toMatchObject({ calls: 1_010, compared: 1_000, moved: 1_000 });
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
