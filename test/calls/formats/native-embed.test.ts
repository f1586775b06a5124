// POST /v1/svc/embed: what it answers, and that it is strict.
import { describe, expect, test } from 'vitest';
import { errorOf } from '../caller.ts';
import { idOf, useWorld } from '../world.ts';
import { ask, TOKEN_MICRO, taskExtras, taskModel } from './tasks-world.ts';

const world = useWorld({ models: {}, extras: taskExtras });

const priceOf = (tokens: number) => Math.floor(tokens * TOKEN_MICRO + 0.5);

describe('embeddings in the native dialect', () => {
  test.concurrent('says vectors, their dimensions, usage, who answered and the cost', async () => {
    const org = await world().org();
    const { id, upstream } = taskModel('cohere');
    const reply = await ask(world(), org, '/v1/svc/embed', { model: id, input: ['ab'], input_type: 'query' });
    expect(reply.json).toMatchObject({
      object: 'list',
      id: idOf(reply),
      request_id: idOf(reply),
      model: id,
      data: [{ index: 0, dimensions: 8 }],
      usage: { input_tokens: 1, total_tokens: 1, source: 'provider' },
      resolved: {
        provider: 'cohere',
        endpoint_id: reply.headers['x-svc-endpoint-id'],
        upstream_model: upstream,
      },
      cost: { total_micro_usd: priceOf(1) },
      warnings: [],
    });
    expect((await world().ended(org, idOf(reply))).row).toMatchObject({ dialect_in: 'native' });
  });

  test.concurrent('is strict: unknown fields and token ids are refused with their path', async () => {
    const org = await world().org();
    const model = 'tasks/openai-0';
    for (const [members, param] of [
      [{ input: 'x', svc: {} }, 'svc'],
      [{ input: 'x', input_type: 'search_query' }, 'input_type'],
      [{ input: [[1]] }, 'input[0]'],
      [{ input: 'x', route: { sorted: 'price' } }, 'route.sorted'],
    ] as const) {
      const reply = await ask(world(), org, '/v1/svc/embed', { model, ...members });
      expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', param });
    }
  });
});
