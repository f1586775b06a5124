// What a caller writes stays a string: no adapter lets it add members to the body that the provider gets. Held money,
// price and route were decided for the body that was read; another model or cap would pass them by.
import { describe, expect, test } from 'vitest';
import { request, target } from '../../../test/grammar/messages-cases.ts';
import type { EncodeOptions } from '../canonical/contract.ts';
import type { CanonicalRequest, Message, Part } from '../canonical/types.ts';
import { builtIn } from './index.ts';

const { adapters } = builtIn;

const HARMLESS = 'AAAA';
const HOSTILE = `A"},"model":"other","max_tokens":9,"x":{"y":"`;
const options: EncodeOptions = { stream: true, max_tokens: 64, user: null, cache_key: null, extra: {} };

/** A request with `word` wherever a caller's own text goes on the wire. */
function asking(word: string): CanonicalRequest {
  const media: Part[] = [
    { type: 'image', src: { base64: word, media_type: 'image/png' } },
    { type: 'image', src: { url: `https://x.example/${word}` } },
    { type: 'audio', src: { base64: word, media_type: 'audio/wav' }, format: 'wav' },
    { type: 'video', src: { base64: word, media_type: 'video/mp4' } },
    { type: 'document', src: { base64: word, media_type: 'application/pdf' }, name: word, title: word },
    { type: 'document', src: { text: word }, title: word, context: word },
    {
      type: 'search_result',
      source: word,
      title: word,
      content: [{ type: 'text', text: word }],
    },
  ];
  const messages: Message[] = [
    { role: 'system', content: [{ type: 'text', text: word }] },
    { role: 'user', name: word, content: [{ type: 'text', text: word }, ...media] },
    {
      role: 'assistant',
      content: [
        {
          type: 'reasoning',
          text: word,
          kind: 'full',
          signature: word,
          format: 'anthropic-claude-v1',
        },
        {
          type: 'reasoning',
          text: '',
          kind: 'encrypted',
          data: word,
          id: word,
          format: 'openai-responses-v1',
        },
        { type: 'text', text: word },
        { type: 'refusal', text: word },
        {
          type: 'tool_call',
          id: word,
          name: word,
          arguments: JSON.stringify({ a: word }),
          kind: 'function',
          signature: word,
          format: 'google-gemini-v1',
        },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool_result', tool_call_id: word, name: word, content: [{ type: 'text', text: word }] },
      ],
    },
  ];
  return request({
    dialect: 'chat',
    messages,
    tools: [{ kind: 'function', name: word, description: word, schema: { type: 'object', title: word } }],
    tool_choice: { type: 'tool', name: word },
    generation: { max_tokens: 64, stop: [word] },
    output: { format: { type: 'json_schema', name: word, schema: { type: 'object', title: word } } },
  });
}

/** The members of a JSON value, without what its strings say. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
  return typeof value;
}

const generating = [...adapters.values()].filter(
  ({ family }) => !['sandbox', 'embed_rerank'].includes(family),
);

describe.each(generating.map((adapter) => [adapter.family, adapter] as const))('%s', (family, adapter) => {
  const bodyOf = (asked: CanonicalRequest) =>
    JSON.parse(adapter.encode(asked, { ...target(), family }, options).body.toString('utf8')) as unknown;

  test('no text of a caller writes a member of its own into the body', () => {
    expect(shapeOf(bodyOf(asking(HOSTILE)))).toEqual(shapeOf(bodyOf(asking(HARMLESS))));
  });

  test.each(['{"a":1},"model":"other"', '{"a":1}}', '', 'not json'])(
    'arguments that are no JSON object stay inside their call: %s',
    (text) => {
      const asked = asking(HARMLESS);
      const call = asked.messages[2]?.content.find((part) => part.type === 'tool_call');
      if (call?.type === 'tool_call') call.arguments = text;
      expect(Object.keys(bodyOf(asked) as object)).toEqual(Object.keys(bodyOf(asking(HARMLESS)) as object));
    },
  );
});
