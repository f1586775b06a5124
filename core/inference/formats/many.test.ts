// A body may name thousands of tools; writing it must cost what its length costs, or one caller stops all others.
import { describe, expect, test } from 'vitest';
import { request, target } from '../../../test/grammar/messages-cases.ts';
import type { EncodeOptions } from '../canonical/contract.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { builtIn } from './index.ts';

const { adapters } = builtIn;

const MANY = 30_000;
const options: EncodeOptions = { stream: true, max_tokens: 64, user: null, cache_key: null, extra: {} };
const names = Array.from({ length: MANY }, (_, i) => `tool_${i}`);

describe.each([...adapters.values()].filter(({ family }) => family !== 'embed_rerank'))(
  '$family',
  (adapter) => {
    test('a choice among thousands of tools is written in time linear in their number', () => {
      const asked: CanonicalRequest = {
        ...request(),
        tools: names.map((name) => ({ kind: 'function', name })),
        tool_choice: { type: 'auto', names },
      };
      const to = { ...target(), family: adapter.family };
      const started = performance.now();
      adapter.losses(asked, to);
      adapter.encode(asked, to, options);
      expect(performance.now() - started).toBeLessThan(3_000);
    });
  },
);
