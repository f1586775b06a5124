// Each preset of the catalog against its golden fixture: the stream as that server writes it, and what it is sent in
// both lanes. A flag that changes nothing here is no flag.
import { readFileSync, writeFileSync } from 'node:fs';
import { chatRequest, chatTarget } from '@svc/test/grammar/chat-fixtures.ts';
import { describe, expect, test } from 'vitest';
import { presetNames, presets } from '../../../../catalog/index.ts';
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { completions } from '../../openai-completions/caller/index.ts';
import { rawCompletions } from '../../openai-completions/raw/index.ts';
import { chat } from '../caller/index.ts';
import { rawRequest } from '../raw/request.ts';
import { FLAGS } from '../words/fields.ts';
import { USAGE_FLAGS } from '../words/usage.ts';
import { encodeRequest } from './encode.ts';
import { lossesOf } from './losses.ts';

interface Golden {
  /** What the canonical lane sends for `preferences`. */
  sent: JsonObject;
  /** What the raw lane sends for `body`. */
  raw: JsonObject;
  /** What the completions path is sent; absent where there is none. */
  completion?: JsonObject;
  /** Losses of both lanes. */
  lost: string[];
}

const fixture = (name: string): URL => new URL(`../fixtures/${name}`, import.meta.url);

const options: EncodeOptions = {
  stream: true,
  max_tokens: 2_000,
  user: 'hash',
  cache_key: 'key-hash',
  extra: {},
};

/** Something of everything that a preset may change. */
const preferences: CanonicalRequest = chatRequest({
  dialect: 'messages',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be kind.' }], ext: { role: 'developer' } },
    { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', kind: 'full', format: 'unknown' },
        { type: 'tool_call', id: 'call_0123456789', name: 'find', arguments: '{}', kind: 'function' },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool_result', tool_call_id: 'call_0123456789', content: [{ type: 'text', text: 'ok' }] },
      ],
    },
  ],
  tools: [{ kind: 'function', name: 'find', schema: { type: 'object' } }],
  generation: { max_tokens: 2_000, seed: 7, top_k: 4 },
  reasoning: { effort: 'low' },
  user: 'ann',
  cache: { key: 'k' },
});

/** A call of the completions dialect. */
const completion = {
  ...{ model: 'acme/fast-1', prompt: ['Once', 'upon'], echo: true, logprobs: 1, max_tokens: 2_000 },
  ...{ stream: true, seed: 7, user: 'ann', prompt_cache_key: 'k', store: false },
};

/** The same as a client of the chat dialect writes it, with what clients send back of earlier answers. */
const body = {
  model: 'acme/fast-1',
  stream: true,
  max_completion_tokens: 2_000,
  seed: 7,
  user: 'ann',
  prompt_cache_key: 'k',
  messages: [
    { role: 'developer', content: 'Be kind.' },
    { role: 'user', name: 'ann', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'hm',
      tool_calls: [
        { id: 'call_0123456789', type: 'function', function: { name: 'find', arguments: '{"n":1e2}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_0123456789', content: 'ok' },
  ],
  tools: [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }],
};

function goldenOf(flags: readonly string[], parameters: readonly string[]): Golden {
  const target = chatTarget(flags, parameters);
  const bytes = Buffer.from(JSON.stringify(body));
  const asked = chat.read(body, {});
  const json = (sent: { body: Buffer }) => JSON.parse(sent.body.toString()) as JsonObject;
  const text = Buffer.from(JSON.stringify(completion));
  const completion_request = completions.read(completion, {});
  const path = rawCompletions.serves?.(target, completion_request) === true;
  return {
    ...(path ? { completion: json(rawCompletions.request(text, completion_request, target, options)) } : {}),
    sent: json(encodeRequest(preferences, target, options)),
    raw: json(rawRequest(bytes, asked, target, options)),
    lost: [...lossesOf(preferences, target), ...lossesOf(asked, target)].map(
      ({ code, param }) => `${code} ${param}`,
    ),
  };
}

describe.each(presetNames)('preset %s', (name) => {
  const stream = JSON.parse(readFileSync(fixture(`preset-${name}.json`), 'utf8')) as JsonObject;
  const file = fixture(`preset-${name}.request.json`);
  const { flags, parameters } = presets[name];

  test('has a golden stream under its flags, all of them known', () => {
    expect(stream).toMatchObject({ preset: name, flags });
    expect(flags.filter((flag) => !Object.hasOwn(FLAGS, flag))).toEqual([]);
  });

  test('is sent what that server takes, in both lanes', () => {
    const now = JSON.parse(JSON.stringify(goldenOf(flags, parameters))) as Golden;
    // UPDATE_FIXTURES=1 rewrites the expectation; a person reviews the difference.
    if (process.env['UPDATE_FIXTURES'] === '1') writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
    else expect(now).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  test('has no flag without an effect of its own', () => {
    // What changes how a stream is read is seen in the stream's own expectation.
    const reading = [...USAGE_FLAGS, 'usage_of_one_choice'];
    for (const flag of flags.filter((one) => !reading.includes(one))) {
      const without = goldenOf(
        flags.filter((one) => one !== flag),
        parameters,
      );
      expect(without, flag).not.toEqual(goldenOf(flags, parameters));
    }
  });
});

test('the raw lane leaves every byte alone that no flag is about', () => {
  const target = chatTarget(presets.mistral.flags);
  const text = JSON.stringify(body).replace('"ok"}', '"ok","own": {"n": 9007199254740993, "x" : 1.50}}');
  const sent = rawRequest(Buffer.from(text), chat.read(body, {}), target, options).body.toString();
  expect(sent).toContain('"own": {"n": 9007199254740993, "x" : 1.50}');
  expect(sent).toContain('"arguments":"{\\"n\\":1e2}"');
  const ids = [...sent.matchAll(/"(?:id|tool_call_id)":"([^"]+)"/g)].map((match) => match[1]);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
});
