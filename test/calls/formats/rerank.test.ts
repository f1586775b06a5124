// Rankings through the whole gateway: order, search units, failover, malformed answers (docs/money/pricing.md).
import { describe, expect, test } from 'vitest';
import { errorOf, type Json } from '../caller.ts';
import { refuse } from '../upstream.ts';
import { idOf, type Org, useWorld } from '../world.ts';
import { answer, ask, TOKEN_MICRO, taskExtras, taskModel, UNIT_MICRO } from './tasks-world.ts';

const world = useWorld({ models: {}, extras: taskExtras });

const documents = ['a red car', 'green apple pie', 'green grass', 'an apple that is green', 'nothing'];
const query = 'green apple';

async function rerank(model: string, more: object = {}, org?: Org) {
  const payer = org ?? (await world().org());
  const reply = await ask(world(), payer, '/v1/svc/rerank', { model, query, documents, ...more });
  return { org: payer, reply };
}
const orderOf = (json: Json) => json['results'].map(({ index }: Json) => index);

describe('the order', () => {
  test.concurrent.each(['rank', 'rank-jina', 'rank-voyage'] as const)(
    'of %s is by score, ties by place, whatever order the provider gave',
    async (kind) => {
      const { id } = taskModel(kind);
      const { reply } = await rerank(id);
      expect(reply.status).toBe(200);
      expect(orderOf(reply.json)).toEqual([1, 3, 2, 0, 4]);
      expect(reply.json['results'][0]).toEqual({ index: 1, relevance_score: 1, document: null });
      expect(reply.json).toMatchObject({ object: 'rerank', id: idOf(reply), model: id, warnings: [] });
    },
  );

  test.concurrent('is cut to top_n, and the texts come from the request', async () => {
    const { id, upstream } = taskModel('rank');
    const texts = documents.map((text, i) => (i % 2 === 0 ? text : { text }));
    const { reply } = await rerank(id, { documents: texts, top_n: 2, return_documents: true });
    expect(reply.json['results'].map(({ document }: Json) => document)).toEqual([
      { text: 'green apple pie' },
      { text: 'an apple that is green' },
    ]);
    const sent = world().sim.calls.find((call) => call.model === upstream)?.body as Json;
    expect(sent).toMatchObject({ documents, top_n: 2 });
  });
});

describe('money', () => {
  test.concurrent('one search unit is one line, and the row has the call', async () => {
    const { org, reply } = await rerank(taskModel('rank').id);
    expect(reply.json['cost']['lines']).toEqual([
      { kind: 'search_unit', units: 1, unit_price_nano: UNIT_MICRO * 1_000, micro_usd: UNIT_MICRO },
    ]);
    expect(reply.json['usage']).toEqual({ input_tokens: 0, search_units: 1, source: 'provider' });
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: UNIT_MICRO, row: { dialect_in: 'native', status: 'ok' } });
  });

  test.concurrent('a provider that bills tokens is paid by tokens', async () => {
    const { org, reply } = await rerank(taskModel('rank-voyage').id);
    const tokens = Math.ceil(documents.join('').length / 4);
    const micro_usd = Math.floor(tokens * TOKEN_MICRO + 0.5);
    expect(reply.json['cost']['lines']).toEqual([
      { kind: 'input', units: tokens, unit_price_nano: 1_250, micro_usd },
    ]);
    expect((await world().ended(org, idOf(reply))).charged).toBe(micro_usd);
  });

  test.concurrent('units that the provider does not tell are counted by hundreds of chunks, and it says so', async () => {
    const { id, upstream } = taskModel('rank-script');
    const long = 'word '.repeat(1_200);
    const many = Array.from({ length: 60 }, () => long);
    const results = many.map((_, index) => ({ index, relevance_score: 0.5 }));
    world().script.on(upstream, 'c', answer({ id: 'x', results }));
    const { org, reply } = await rerank(id, { documents: many });
    // 6,000 bytes are at least 1,000 tokens: three chunks beside the query, 180 in all.
    expect(reply.json['usage']).toEqual({ input_tokens: 0, search_units: 2, source: 'estimate' });
    expect(reply.json['warnings'].map(({ code }: Json) => code)).toEqual(['usage_estimated']);
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 2 * UNIT_MICRO, meter: { estimated: true } });
  });

  test.concurrent('a hundred and one documents hold two units: with credit for one they are refused', async () => {
    const org = await world().org(3_000);
    const many = Array.from({ length: 101 }, (_, i) => `document ${i}`);
    const { reply } = await rerank(taskModel('rank').id, { documents: many }, org);
    expect(reply.status).toBe(402);
    expect(errorOf(reply)?.['details']).toMatchObject({
      required_micro: 2 * UNIT_MICRO,
      available_micro: 3_000,
    });
  });
});

describe('faults', () => {
  const all = documents.map((_, index) => ({ index, relevance_score: 0.5 }));
  test.concurrent.each([
    ['a refusal', refuse(429, { message: 'slow down' }), 'error rate_limit'],
    [
      'a document that was never sent',
      answer({ results: [...all.slice(1), { index: 5, relevance_score: 1 }] }),
      'error protocol',
    ],
    ['a document twice', answer({ results: [...all.slice(1), all[1]] }), 'error protocol'],
    ['a result too few', answer({ results: all.slice(1) }), 'error protocol'],
    ['no score', answer({ results: [...all.slice(1), { index: 0 }] }), 'error protocol'],
    ['no results', answer({ message: 'odd' }), 'error protocol'],
  ] as const)('after %s the next endpoint answers', async (_name, handler, outcome) => {
    const { id, upstream } = taskModel('rank-pair');
    world().script.on(upstream, 'c', handler);
    const { org, reply } = await rerank(id, { route: { providers: { order: ['script-c'] } } });
    expect(orderOf(reply.json)).toEqual([1, 3, 2, 0, 4]);
    expect((await world().ended(org, idOf(reply))).attempts).toEqual([outcome, 'ok']);
  });

  test.concurrent.each([
    [{ query: undefined }, 'query'],
    [{ query: '' }, 'query'],
    [{ documents: [] }, 'documents'],
    [{ documents: 'x' }, 'documents'],
    [{ documents: new Array(1_001).fill('x') }, 'documents'],
    [{ documents: ['x', 1] }, 'documents[1]'],
    [{ documents: [{ txt: 'x' }] }, 'documents[0].txt'],
    [{ documents: [{}] }, 'documents[0].text'],
    [{ top_n: 0 }, 'top_n'],
    [{ top_n: 6 }, 'top_n'],
    [{ return_documents: 'yes' }, 'return_documents'],
    [{ rank_fields: ['x'] }, 'rank_fields'],
  ])('%j is refused at %s', async (members, param) => {
    const { reply } = await rerank('tasks/rank-0', members);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', param });
  });

  test.concurrent('a model that makes vectors ranks nothing', async () => {
    const { reply } = await rerank(taskModel('openai').id);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'no_endpoint_available', param: 'model' });
    expect(errorOf(reply)?.['message']).toContain('makes embeddings');
  });
});

test.concurrent('a retry with the same Idempotency-Key gets the same order for no more money', async () => {
  const org = await world().org();
  const { id, upstream } = taskModel('rank');
  const body = { model: id, query, documents, return_documents: true };
  const headers = { 'idempotency-key': 'once' };
  const first = await ask(world(), org, '/v1/svc/rerank', body, headers);
  await world().ended(org, idOf(first));
  const again = await ask(world(), org, '/v1/svc/rerank', body, headers);
  expect(again.text).toBe(first.text);
  expect(world().sim.calls.filter((call) => call.model === upstream)).toHaveLength(1);
  await world().ended(org, idOf(first));
});
