import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../../kernel/index.ts';
import type { Message, Tool } from '../../../canonical/types.ts';
import { sandboxAdapter } from './adapter.ts';
import { signatureOf } from './signature.ts';
import { callSandbox, lastOf, piecesIn, textIn, userRequest, wholeAnswer } from './test-kit.ts';
import { tokensOf } from './tokens.ts';
import { createSandboxUpstream } from './upstream.ts';

const weather: Tool = {
  kind: 'function',
  name: 'get_weather',
  schema: {
    type: 'object',
    properties: { unit: { enum: ['C', 'F'] }, city: { type: 'string' }, note: { type: 'string' } },
    required: ['city', 'unit'],
  },
};
const clock: Tool = { kind: 'function', name: 'get_time' };

describe('echo', () => {
  test('repeats the last user text, counts it in bytes-v1 and ends with usage and the end mark', async () => {
    const request = userRequest('Grüße an die Welt 🌍');
    const { events } = await callSandbox('sandbox/echo', request);
    expect(textIn(events)).toBe('Grüße an die Welt 🌍');
    const tokens = Math.ceil(Buffer.byteLength('Grüße an die Welt 🌍') / 3);
    expect(events[0]).toMatchObject({ type: 'start', usage: { input_tokens: tokens } });
    expect(events.slice(-3)).toEqual([
      { type: 'stop', candidate: 0, stop: { reason: 'end_turn', raw: 'stop' } },
      {
        type: 'usage',
        usage: {
          input_tokens: tokens,
          output_tokens: tokens,
          cache_read_tokens: 0,
          cache_write_tokens: 0,
          reasoning_tokens: 0,
          source: 'provider',
        },
      },
      { type: 'finish' },
    ]);
  });

  test('any other model echoes too', async () => {
    const { events } = await callSandbox('gpt-9', userRequest('hello there'));
    expect(textIn(events)).toBe('hello there');
  });

  test('another model keeps a forced tool choice and an output format', async () => {
    const forced = userRequest('hi', { tools: [weather], tool_choice: { type: 'required' } });
    const called = await wholeAnswer('gpt-9', forced);
    expect(called.candidates[0]?.content[0]).toMatchObject({ type: 'tool_call', name: 'get_weather' });
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const shaped = userRequest('hi', { output: { format: { type: 'json_schema', schema } } });
    expect((await wholeAnswer('gpt-9', shaped)).candidates[0]?.content[0]).toMatchObject({ text: '{"n":0}' });
  });

  test.each([1, 7, 100, 999])('tokens=%i gives exactly as many tokens', async (tokens) => {
    const { events } = await callSandbox('echo', userRequest('wörd 🌍', { options: { tokens } }));
    expect(tokensOf(textIn(events))).toBe(tokens);
    expect(lastOf(events, 'usage')?.usage.output_tokens).toBe(tokens);
  });

  test('chunks=N streams the text in N pieces', async () => {
    const { events } = await callSandbox('echo', userRequest('sandbox: tokens=200 chunks=25'));
    expect(piecesIn(events)).toBe(25);
    expect(tokensOf(textIn(events))).toBe(200);
  });

  test('candidates are answered one after the other and all are billed', async () => {
    const { events } = await callSandbox('echo', userRequest('abc', { generation: { candidates: 3 } }));
    expect(events.filter(({ type }) => type === 'stop')).toHaveLength(3);
    expect(lastOf(events, 'usage')?.usage.output_tokens).toBe(3);
  });
});

describe('the output cap and stop sequences', () => {
  test.each(['echo', 'lorem', 'json', 'tools', 'reasoning', 'long', 'vision', 'refusal'])(
    '%s never passes the cap',
    async (model) => {
      const schema = { type: 'object', properties: { a: { const: 'x'.repeat(50) } }, required: ['a'] };
      const request = userRequest('some words that are long enough', {
        tools: [{ kind: 'function', name: 'f', schema }],
        output: { format: { type: 'json_schema', schema } },
      });
      for (const max_tokens of [0, 1, 2, 5]) {
        const { events } = await callSandbox(model, request, { max_tokens });
        expect(lastOf(events, 'stop')?.stop.reason).toBe('max_tokens');
        expect(lastOf(events, 'usage')?.usage.output_tokens).toBeLessThanOrEqual(max_tokens);
      }
    },
  );

  test('without a cap the model’s own maximum holds', async () => {
    const { events } = await callSandbox('lorem', userRequest('hi', { options: { words: 100_000 } }));
    expect(lastOf(events, 'usage')?.usage.output_tokens).toBe(4_096);
    expect(lastOf(events, 'stop')?.stop.reason).toBe('max_tokens');
  });

  test('text ends before the first stop sequence, which is named', async () => {
    const request = userRequest('one two three', { generation: { stop: ['three', 'two'] } });
    const { events } = await callSandbox('echo', request);
    expect(textIn(events)).toBe('one ');
    expect(lastOf(events, 'stop')?.stop).toMatchObject({ reason: 'stop_sequence', sequence: 'two' });
  });

  test('a stop sequence beyond the cap does not count', async () => {
    const request = userRequest('one two three', { generation: { stop: ['three'] } });
    const { events } = await callSandbox('echo', request, { max_tokens: 1 });
    expect(lastOf(events, 'stop')?.stop.reason).toBe('max_tokens');
  });
});

describe('lorem, json, vision, refusal', () => {
  test('lorem says the number of words asked for, 200 by default', async () => {
    const words = async (options: Record<string, unknown>) =>
      textIn((await callSandbox('lorem', userRequest('hi', { options }))).events).split(' ').length;
    expect(await words({})).toBe(200);
    expect(await words({ words: 12 })).toBe(12);
  });

  test('json answers the smallest instance, keys in schema order', async () => {
    const schema = weather.schema as Record<string, unknown>;
    const request = userRequest('x', { output: { format: { type: 'json_schema', schema } } });
    expect(textIn((await callSandbox('json', request)).events)).toBe('{"unit":"C","city":""}');
    expect(textIn((await callSandbox('json', userRequest('x'))).events)).toBe('{}');
  });

  test('json calls a tool that it must call: libraries ask for objects that way, too', async () => {
    const request = userRequest('x', { tools: [weather], tool_choice: { type: 'tool', name: weather.name } });
    const { events } = await callSandbox('json', request);
    expect(lastOf(events, 'stop')?.stop.reason).toBe('tool_use');
  });

  test('vision reports type, size and hash of each part', async () => {
    const bytes = Buffer.from('not really a picture');
    const request = userRequest([
      { type: 'image', src: { base64: bytes.toString('base64'), media_type: 'image/png' } },
      { type: 'image', src: { url: 'https://example.com/a.jpg' } },
      { type: 'document', src: { text: 'plain' } },
    ]);
    expect(textIn((await callSandbox('vision', request)).events).split('\n')).toEqual([
      `image image/png 20 bytes sha256:${sha256Hex(bytes)}`,
      'image unknown type url https://example.com/a.jpg',
      `document text/plain 5 bytes sha256:${sha256Hex('plain')}`,
    ]);
  });

  test('refusal gives a refusal part and its stop reason', async () => {
    const { candidates } = await wholeAnswer('refusal', userRequest('x'));
    expect(candidates[0]?.content).toEqual([{ type: 'refusal', text: 'I cannot help with that.' }]);
    expect(candidates[0]?.stop?.reason).toBe('refusal');
  });
});

describe('tools', () => {
  test('calls the first tool with smallest arguments, streamed in several deltas', async () => {
    const { events } = await callSandbox('tools', userRequest('x', { tools: [weather, clock] }));
    const pieces = events.flatMap((event) => (event.type === 'part_delta' ? [event.arguments] : []));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe('{"unit":"C","city":""}');
    expect(lastOf(events, 'stop')?.stop.reason).toBe('tool_use');
    expect(events.find(({ type }) => type === 'part_start')).toMatchObject({
      content: { type: 'tool_call', name: 'get_weather', arguments: '', kind: 'function' },
    });
  });

  test('calls the named tool; parallel=N calls several with ids of their own, unless parallel is off', async () => {
    const named = userRequest('x', {
      tools: [weather, clock],
      tool_choice: { type: 'tool', name: 'get_time' },
    });
    expect((await wholeAnswer('tools', named)).candidates[0]?.content).toMatchObject([
      { type: 'tool_call', name: 'get_time', arguments: '{}' },
    ]);
    const many = userRequest('x', { tools: [weather, clock], options: { parallel: 3, preamble: 1 } });
    const { content } = (await wholeAnswer('tools', many)).candidates[0]!;
    expect(content.map(({ type }) => type)).toEqual(['text', 'tool_call', 'tool_call', 'tool_call']);
    expect(new Set(content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))).size).toBe(3);
    const single = await wholeAnswer('tools', { ...many, parallel_tools: false });
    expect(single.candidates[0]?.content).toHaveLength(2);
  });

  test('answers tool results with their text; without tools or with choice none it echoes', async () => {
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'weather?' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_call', id: 'a', name: 'get_weather', arguments: '{}', kind: 'function' }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: 'a', content: [{ type: 'text', text: '7 C' }] }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool_result',
            tool_call_id: 'b',
            content: [{ type: 'text', text: 'late' }],
            is_error: true,
          },
        ],
      },
    ];
    const { events } = await callSandbox('tools', userRequest('', { messages, tools: [weather] }));
    expect(textIn(events)).toBe('7 C\nError: late');
    const none = userRequest('no tool', { tools: [weather], tool_choice: { type: 'none' } });
    expect(textIn((await callSandbox('tools', none)).events)).toBe('no tool');
  });
});

describe('reasoning', () => {
  const again = (part: Message['content'][number]) =>
    userRequest('', {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'q' }] },
        { role: 'assistant', content: [part] },
        { role: 'user', content: [{ type: 'text', text: 'and?' }] },
      ],
    });

  test('reasons, signs and answers; the reasoning is part of the output', async () => {
    const { candidates, usage } = await wholeAnswer('reasoning', userRequest('q'));
    const [thought, text] = candidates[0]!.content;
    expect(thought).toMatchObject({ type: 'reasoning', kind: 'full', format: 'unknown' });
    if (thought?.type !== 'reasoning') throw new Error('no reasoning');
    expect(thought.signature).toBe(signatureOf(thought.text));
    expect(text).toEqual({ type: 'text', text: 'q' });
    expect(usage?.reasoning_tokens).toBe(tokensOf(thought.text));
    expect(usage?.output_tokens).toBe(tokensOf(thought.text) + 1);
  });

  test('the signature is one of the text that went out, also when the cap cut it', async () => {
    const { candidates } = await wholeAnswer('reasoning', userRequest('q'), { max_tokens: 4 });
    const [thought] = candidates[0]!.content;
    if (thought?.type !== 'reasoning') throw new Error('no reasoning');
    expect(thought.signature).toBe(signatureOf(thought.text));
    expect(tokensOf(thought.text)).toBe(4);
  });

  test.each([{}, { redacted: 1 }, { encrypted: 1 }])(
    'state sent back whole is accepted, changed it is refused (%o)',
    async (options) => {
      const { candidates } = await wholeAnswer('reasoning', userRequest('q', { options }));
      const proof = candidates[0]!.content.find(
        (part) => part.type === 'reasoning' && (part.signature ?? part.data) !== undefined,
      );
      if (proof?.type !== 'reasoning') throw new Error('no reasoning');
      expect((await callSandbox('reasoning', again(proof))).status).toBe(200);
      const changed =
        proof.data === undefined
          ? { ...proof, text: `${proof.text}!` }
          : { ...proof, data: `${proof.data}0` };
      const refused = await callSandbox('reasoning', again(changed));
      expect(refused.status).toBe(400);
      expect(sandboxAdapter.classify(400, refused.headers, refused.bytes)).toMatchObject({
        class: 'client',
        code: 'invalid_signature',
        param: 'messages[1].content[0]',
      });
    },
  );

  test('foreign state is passed over', async () => {
    const foreign = {
      type: 'reasoning',
      text: 'x',
      kind: 'full',
      signature: 'abc',
      format: 'anthropic-claude-v1',
    };
    expect((await callSandbox('reasoning', again(foreign as Message['content'][number]))).status).toBe(200);
  });

  test('hidden reasoning is billed; switched off there is none', async () => {
    const hidden = await wholeAnswer(
      'reasoning',
      userRequest('q', { options: { redacted: 1, reasoning_tokens: 50 } }),
    );
    expect(hidden.candidates[0]?.content[0]).toMatchObject({ kind: 'encrypted', text: '' });
    expect(hidden.usage?.reasoning_tokens).toBe(50);
    const off = await wholeAnswer('reasoning', userRequest('q', { reasoning: { mode: 'off' } }));
    expect(off.candidates[0]?.content).toHaveLength(1);
  });
});

describe('cache', () => {
  const prompt = (words: string, ttl?: '5m' | '1h') =>
    userRequest([
      { type: 'text', text: words.repeat(1_024), cache: ttl === undefined ? {} : { ttl } },
      { type: 'text', text: 'question' },
    ]);

  test('writes a marked prefix of 1,024 tokens, reads it within its ttl, per organization', async () => {
    const upstream = createSandboxUpstream();
    const at = async (now_ms: number, org_id: string, request = prompt('abc')) =>
      lastOf((await callSandbox('cache', request, { upstream, now_ms, org_id })).events, 'usage')!.usage;
    expect(await at(0, 'org_a')).toMatchObject({
      input_tokens: 3,
      cache_write_tokens: 1_024,
      cache_write_5m_tokens: 1_024,
      cache_read_tokens: 0,
    });
    expect(await at(1_000, 'org_a')).toMatchObject({
      input_tokens: 3,
      cache_write_tokens: 0,
      cache_read_tokens: 1_024,
    });
    expect((await at(1_000, 'org_b')).cache_read_tokens).toBe(0);
    expect((await at(1_000 + 300_000, 'org_a')).cache_read_tokens).toBe(0);
    expect(await at(0, 'org_a', prompt('xyz', '1h'))).toMatchObject({ cache_write_1h_tokens: 1_024 });
    expect((await at(3_599_999, 'org_a', prompt('xyz', '1h'))).cache_read_tokens).toBe(1_024);
  });

  test('a shorter or unmarked prefix is not cached', async () => {
    const upstream = createSandboxUpstream();
    const short = userRequest([{ type: 'text', text: 'abc'.repeat(1_023), cache: {} }]);
    const bare = userRequest([{ type: 'text', text: 'abc'.repeat(2_000) }]);
    for (const request of [short, bare, short, bare]) {
      const { events } = await callSandbox('cache', request, { upstream, now_ms: 0 });
      expect(lastOf(events, 'usage')?.usage).toMatchObject({ cache_write_tokens: 0, cache_read_tokens: 0 });
    }
  });
});
