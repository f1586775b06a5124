import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../kernel/index.ts';
import { inputTokensBound } from '../../../pricing/index.ts';
import type { CanonicalRequest, EmbedTask } from '../../canonical/types.ts';
import { completions } from '../../formats/openai-completions/caller/index.ts';
import { promptSize } from './prompt.ts';
import { clearer, refuseUnreadable, taskFeatures, taskSize } from './task.ts';

const embed = (input: EmbedTask['input'], single = false): EmbedTask => ({
  kind: 'embed',
  input,
  single,
  encoding: 'float',
});
const requestOf = (task: EmbedTask): CanonicalRequest => ({
  model: 'v/m',
  messages: [],
  generation: { max_tokens: 0 },
  task,
  stream: false,
  include_usage: false,
  svc: { route: {}, metadata: {}, compat: 'warn', provider_options: {}, reasoning: 'include' },
  dialect: 'embeddings',
  warnings: [],
});

describe('bounds', () => {
  test('token ids are bounded by their number, text by its bytes, and a batch by its sum', () => {
    const input = fc.oneof(
      fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }),
      fc.array(fc.nat(100_000), { minLength: 1, maxLength: 200 }),
    );
    fc.assert(
      fc.property(fc.array(input, { minLength: 1, maxLength: 20 }), (list) => {
        const least = list.map((item) =>
          typeof item === 'string' ? Math.ceil(Buffer.byteLength(item) / 3) : item.length,
        );
        const bound = inputTokensBound(taskSize(embed(list)));
        expect(bound).toBeGreaterThanOrEqual(least.reduce((a, b) => a + b, 0));
        const longest = taskFeatures(requestOf(embed(list))).longest_input_tokens as number;
        expect(longest).toBeGreaterThanOrEqual(Math.max(...least));
        expect(longest).toBeLessThanOrEqual(bound);
      }),
    );
  });

  test('token ids that fill a context exactly are not too long for it', () => {
    const ids = new Array<number>(8_192).fill(7);
    expect(taskFeatures(requestOf(embed([ids]))).longest_input_tokens).toBe(8_192);
  });
});

test('under a data policy that redacts, token ids are refused at their place and text passes', () => {
  expect(() => refuseUnreadable(requestOf(embed(['a', [1]])), true)).toThrowError(
    expect.objectContaining({ code: 'unsupported_parameter', param: 'input[1]' }),
  );
  expect(() => refuseUnreadable(requestOf(embed([[1]], true)), true)).toThrowError(
    expect.objectContaining({ param: 'input' }),
  );
  expect(() => refuseUnreadable(requestOf(embed(['a'])), true)).not.toThrow();
  expect(() => refuseUnreadable(requestOf(embed([[1]])), false)).not.toThrow();
  const { task: _, ...legacy } = requestOf(embed(['a']));
  const completion = { prompts: 1, tokens: 3, asks: [], best_of: 1 };
  expect(() => refuseUnreadable({ ...legacy, completion }, true)).toThrowError(
    expect.objectContaining({ code: 'unsupported_parameter', param: 'prompt' }),
  );
  expect(() => refuseUnreadable({ ...legacy, completion: { ...completion, tokens: 0 } }, true)).not.toThrow();
});

test('token ids of a completion are bounded by their number, however few digits they have', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100), { minLength: 1, maxLength: 300 }), (prompt) => {
      const body = JSON.stringify({ model: 'v/m', prompt });
      const request = completions.read(JSON.parse(body), {});
      expect(inputTokensBound(promptSize(request, Buffer.from(body)))).toBeGreaterThanOrEqual(prompt.length);
    }),
  );
});

test('a refusal that waiting can mend is left as it is', () => {
  const refusal = new ServiceError('no_endpoint_available', 'busy', {
    status: 503,
    beside: { excluded_by: [] },
  });
  const catalog = { models: new Map(), sandbox: new Map() } as never;
  expect(clearer(refusal, requestOf(embed(['a'])), { catalog, environment: 'live' })).toBe(refusal);
});
