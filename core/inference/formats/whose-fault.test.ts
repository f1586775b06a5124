// A decoder reports what a provider did wrong as an event, and throws what is a defect of ours.
import { describe, expect, test } from 'vitest';
import type { Target } from '../canonical/contract.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { builtIn } from './index.ts';

const capabilities = { parameters: [], reasoning: false, reasoning_controls: [], server_tools: [] };
const target = { upstream_model: 'm', flags: [], capabilities } as unknown as Target;
const request = { dialect: 'native', messages: [], generation: {} } as unknown as CanonicalRequest;

const SSE = 'data: {"type":\n\n';
const GARBAGE = {
  openai_chat: SSE,
  openai_responses: SSE,
  anthropic_messages: SSE,
  gemini: SSE,
  bedrock_converse: 'no frame of an event stream at all',
  sandbox: '{"type":\n',
} as const;

describe.each(Object.entries(GARBAGE))('%s', (family, garbage) => {
  const decoder = () => {
    const adapter = [...builtIn.adapters.values()].find((one) => one.family === family);
    if (adapter === undefined) throw new Error(`no adapter ${family}`);
    return adapter.decoder(request, target);
  };

  test("bytes that are not the provider's format are a fault of the provider", () => {
    const events = decoder().push(Buffer.from(garbage));
    expect(events).toMatchObject([{ type: 'error', fault: { class: 'protocol' } }]);
  });

  test('a defect of ours is thrown, not reported as an event', () => {
    // What should be bytes is none: no provider can send that.
    expect(() => decoder().push(null as unknown as Buffer)).toThrow(TypeError);
  });
});
