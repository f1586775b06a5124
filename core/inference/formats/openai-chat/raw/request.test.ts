import { chatEnd, chatMeta, chatRequest, chatTarget } from '@svc/test/grammar/chat-fixtures.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target } from '../../../canonical/contract.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { chat, rawChat } from '../caller/index.ts';
import { openaiChat } from '../upstream/index.ts';

const options: EncodeOptions = { stream: false, max_tokens: null, user: null, cache_key: null, extra: {} };

function send(text: string, change: Partial<EncodeOptions> = {}, parameters: string[] = []): string {
  const request = chat.read(JSON.parse(text), {});
  const target = chatTarget([], parameters);
  return rawChat.request(Buffer.from(text), request, target, { ...options, ...change }).body.toString();
}

const base = '"messages":[{"role":"user","content":"Hi"}]';

describe('raw request', () => {
  it('changes nothing but the model when nothing else is ours', () => {
    const text = `{ "seed" : 9007199254740993,\n"model":"acme/fast-1", ${base},"zzz":[1.50, 1e5],"a\\u0062":"\u2028"}`;
    expect(send(text)).toBe(text.replace('acme/fast-1', 'fast-1-upstream'));
  });

  it('takes svc, metadata and a refused tier away and never sends a user or cache key in clear', () => {
    const text = `{"svc":{"app":"x"},"model":"a/b",${base},"metadata":{"a":"b"},"user":"ann","safety_identifier":"s","prompt_cache_key":"k","service_tier":"flex","store":true}`;
    expect(JSON.parse(send(text, { user: 'h1', cache_key: 'h2' }))).toEqual({
      model: 'fast-1-upstream',
      messages: [{ role: 'user', content: 'Hi' }],
      user: 'h1',
      safety_identifier: 'h1',
      prompt_cache_key: 'h2',
      store: false,
    });
    expect(JSON.parse(send(text, {}, ['service_tier']))).toEqual({
      model: 'fast-1-upstream',
      messages: [{ role: 'user', content: 'Hi' }],
      service_tier: 'flex',
      store: false,
    });
  });

  it('requests a search or a moderation only where the endpoint lists it, and reports what is left out', () => {
    const text = `{"model":"a/b",${base},"web_search_options":{},"moderation":{"model":"m"}}`;
    const request = chat.read(JSON.parse(text), {});
    const reported = (target: Target) =>
      openaiChat.losses(request, target).map((loss) => [loss.class, loss.param]);
    const unlisted = chatTarget();
    expect(reported(unlisted)).toEqual([
      ['content', 'web_search_options'],
      ['content', 'moderation'],
    ]);
    const bodyAt = (target: Target) =>
      JSON.parse(rawChat.request(Buffer.from(text), request, target, options).body.toString());
    expect(Object.keys(bodyAt(unlisted))).toEqual(['model', 'messages']);
    const capabilities = { ...unlisted.capabilities, server_tools: ['web_search', 'moderation'] };
    const listed = { ...unlisted, capabilities };
    expect(reported(listed)).toEqual([]);
    expect(bodyAt(listed)).toMatchObject({ web_search_options: {}, moderation: { model: 'm' } });
  });

  it('finds our fields under escaped keys', () => {
    const text = `{"\\u006dodel":"a/b",${base},"s\\u0076c":{},"m\\u0065tadata":{"a":"b"}}`;
    expect(JSON.parse(send(text))).toEqual({
      model: 'fast-1-upstream',
      messages: [{ role: 'user', content: 'Hi' }],
    });
  });

  it('always asks a stream for usage, and no whole answer for stream options', () => {
    const stream = (member: string): unknown =>
      JSON.parse(send(`{"model":"a/b",${base},"stream":true${member}}`, { stream: true }));
    const asked = { include_usage: true };
    expect(stream('')).toMatchObject({ stream: true, stream_options: asked });
    expect(stream(',"stream_options":null')).toMatchObject({ stream_options: asked });
    expect(stream(',"stream_options":{"include_usage":false,"include_obfuscation":false}')).toMatchObject({
      stream_options: { include_usage: true, include_obfuscation: false },
    });
    expect(
      JSON.parse(send(`{"model":"a/b",${base},"stream_options":{"include_usage":true}}`)),
    ).not.toHaveProperty('stream_options');
  });

  it('sends the cap under the name that the endpoint takes', () => {
    const cap = (member: string, max_tokens: number, parameters: string[] = []): Record<string, unknown> =>
      JSON.parse(send(`{"model":"a/b",${base}${member}}`, { max_tokens }, parameters));
    expect(cap(',"max_tokens":50', 50)).toMatchObject({ max_tokens: 50 });
    expect(cap(',"max_completion_tokens":50', 20)).toMatchObject({ max_completion_tokens: 20 });
    expect(cap('', 20)).toMatchObject({ max_tokens: 20 });
    const renamed = cap(',"max_tokens":50', 20, ['max_completion_tokens']);
    expect(renamed).toMatchObject({ max_completion_tokens: 20 });
    expect(renamed).not.toHaveProperty('max_tokens');
  });

  it('merges provider options last', () => {
    const text = `{"model":"a/b",${base},"top_k":5}`;
    expect(JSON.parse(send(text, { extra: { top_k: 9, extra: { a: 1 } } }))).toMatchObject({
      top_k: 9,
      extra: { a: 1 },
    });
  });

  it.each([
    `{"model":"a/b","model":"a/c",${base}}`,
    `{"model":"a/b","m\\u006fdel":"a/c",${base}}`,
    `{"model":"a/b",${base},"max_tokens":1,"max_tokens":9}`,
    `{"model":"a/b",${base},"stream":true,"stream_options":{"include_usage":true,"include_usage":false}}`,
  ])('refuses %s, whose other copy an upstream might take', (text) => {
    let refused: unknown = null;
    try {
      send(text, { stream: true });
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(ServiceError);
    expect((refused as ServiceError).code).toBe('invalid_json');
  });

  it('says upstream what the canonical lane says, for every field that both know', () => {
    const part = fc.constantFrom(
      { role: 'system', content: 's' },
      { role: 'user', content: 'Hi' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'https://e.com/a' } },
        ],
      },
      { role: 'user', name: 'n', content: 'x' },
    );
    const fields = fc.record(
      {
        temperature: fc.constantFrom(0, 0.5, 2),
        top_p: fc.constantFrom(0.1, 1),
        seed: fc.integer(),
        stop: fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 }),
        n: fc.integer({ min: 2, max: 8 }),
        reasoning_effort: fc.constantFrom('low', 'high', 'none'),
        response_format: fc.constantFrom(
          { type: 'json_object' },
          { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
        ),
        tools: fc.constant([{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]),
        logprobs: fc.constant(true),
        verbosity: fc.constantFrom('low', 'high'),
        zzz: fc
          .json()
          .map((text) => JSON.parse(text))
          .filter((value) => value !== null),
        user: fc.string(),
        metadata: fc.constant({ a: 'b' }),
        store: fc.constant(false),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fields,
        fc.boolean(),
        (messages, members, stream) => {
          const body = { model: 'a/b', messages, ...members, ...(stream ? { stream } : {}) };
          const request = chat.read(body, {});
          const how = { ...options, stream, max_tokens: 77, user: 'hash' };
          const target = chatTarget([], ['store']);
          const raw = JSON.parse(
            rawChat.request(Buffer.from(JSON.stringify(body)), request, target, how).body.toString(),
          );
          const canonical = JSON.parse(openaiChat.encode(request, target, how).body.toString());
          // The raw lane keeps the name under which the caller gave the user.
          for (const sent of [raw, canonical]) {
            delete sent.user;
            delete sent.safety_identifier;
          }
          expect(raw).toEqual(canonical);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('raw whole answer', () => {
  const answer =
    '{"id":"chatcmpl-1","object":"chat.completion","created":5,"model":"fast-1-upstream","choices":[{"index":0,' +
    '"message":{"role":"assistant","content":"Hé","refusal":null,"reasoning_content":"hm"},"logprobs":null,' +
    '"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12},"big":9007199254740993}';
  const whole = (text: string, flags: string[] = []): ReturnType<typeof rawChat.whole> =>
    rawChat.whole(Buffer.from(text), chatRequest(), chatTarget(flags));

  it('reports what metering needs and changes only id, model and svc', () => {
    const read = whole(answer);
    expect(read).toMatchObject({
      usage: { input_tokens: 9, output_tokens: 3, source: 'provider' },
      stop: { reason: 'end_turn', raw: 'stop' },
      output_bytes: 5,
    });
    const out = read.finish(chatMeta(), chatEnd(read.usage)).toString();
    const head = out.slice(0, out.indexOf(',"svc":'));
    expect(`${head}}`).toBe(
      answer
        .replace('"chatcmpl-1"', '"01JD0000000000000000000000"')
        .replace('fast-1-upstream', 'acme/fast-1'),
    );
    expect(JSON.parse(out).svc).toMatchObject({
      request_id: '01JD0000000000000000000000',
      cost: { total_micro_usd: 123 },
    });
  });

  it('agrees with the canonical lane on usage, stop and text', () => {
    const decoded = openaiChat.decode(Buffer.from(answer), chatRequest(), chatTarget());
    const read = whole(answer);
    expect(decoded.usage).toEqual(read.usage);
    expect(decoded.candidates[0]!.stop).toEqual(read.stop);
    const canonical = JSON.parse(chat.write(decoded, chatMeta({ created: 5 }), chatEnd(decoded.usage)));
    const raw = JSON.parse(read.finish(chatMeta(), chatEnd(read.usage)).toString());
    delete raw.big;
    delete canonical.choices[0].message.reasoning_details;
    delete canonical.usage.prompt_tokens_details;
    delete canonical.usage.completion_tokens_details;
    expect(raw).toEqual(canonical);
  });

  it('writes counted usage where the provider reported none', () => {
    const read = whole(answer.replace(/"usage":\{[^}]*\},/, ''));
    expect(read.usage).toBeNull();
    const out = JSON.parse(read.finish(chatMeta(), chatEnd()).toString());
    expect(out.usage).toMatchObject({ prompt_tokens: 19, completion_tokens: 10 });
  });

  it('takes excluded reasoning away', () => {
    const out = whole(answer)
      .finish(chatMeta({ reasoning: 'exclude' }), chatEnd())
      .toString();
    expect(out).not.toContain('reasoning_content');
    expect(JSON.parse(out).choices[0].message.content).toBe('Hé');
  });

  it('gives an answer with a key twice as every reader would see it', () => {
    const out = whole(`${answer.slice(0, -1)},"id":"again"}`)
      .finish(chatMeta(), chatEnd())
      .toString();
    expect(out.match(/"id":/g)).toHaveLength(1);
    expect(JSON.parse(out).id).toBe('01JD0000000000000000000000');
  });

  it('has no stop while one of several answers has none', () => {
    const choice = '{"index":1,"message":{"role":"assistant","content":"x"},"finish_reason":null}';
    expect(
      whole(answer.replace('"finish_reason":"stop"}', `"finish_reason":"stop"},${choice}`)).stop,
    ).toBeNull();
  });

  it.each(['', '<html>', '[]', '{"error":{"message":"no"}}', '{"choices":{}}'])(
    'refuses %j as no answer',
    (text) => {
      expect(() => whole(text)).toThrow(ProtocolFault);
    },
  );
});
