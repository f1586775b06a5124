import { checkChatStream } from '@svc/test/grammar/chat.ts';
import {
  chatEnd,
  chatFixtures,
  chatMeta,
  chatRequest,
  chatTarget,
  readChatStream,
  runRelay,
  someUsage,
} from '@svc/test/grammar/chat-fixtures.ts';
import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { unfoldAnswer } from '../../../canonical/assemble.ts';
import { unwrapState } from '../../../canonical/reasoning.ts';
import type {
  CanonicalAnswer,
  CanonicalEvent,
  Part,
  ReplyEnd,
  ReplyMeta,
  StopReason,
} from '../../../canonical/types.ts';
import { chat, rawChat } from './index.ts';

const format = 'anthropic-claude-v1';

function answerOf(content: Part[], reason: StopReason = 'end_turn'): CanonicalAnswer {
  return { candidates: [{ index: 0, content, stop: { reason } }], usage: someUsage, upstream_model: 'up' };
}

function stream(
  events: readonly CanonicalEvent[],
  meta: ReplyMeta = chatMeta(),
  end: ReplyEnd = chatEnd(),
): string {
  const writer = chat.writer(meta);
  return events.map((event) => writer.write(event)).join('') + writer.end(end);
}

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
function whole(answer: CanonicalAnswer, meta: ReplyMeta = chatMeta(), end: ReplyEnd = chatEnd()): any {
  return JSON.parse(chat.write(answer, meta, end));
}

const parts: Record<string, Part[]> = {
  text: [{ type: 'text', text: 'Hello "w\u2028orld"' }],
  'thinking with signature': [
    { type: 'reasoning', text: 'Hm', kind: 'full', signature: 'sig', format },
    { type: 'reasoning', text: '', kind: 'encrypted', data: 'zz', id: 'r1', format },
    { type: 'text', text: 'A' },
  ],
  summary: [
    { type: 'reasoning', text: 'S', kind: 'summary', format: 'openai-responses-v1' },
    { type: 'text', text: 'A' },
  ],
  'a summary with its state': [
    { type: 'reasoning', text: 'S', kind: 'summary', data: 'zz', id: 'rs_1', format: 'openai-responses-v1' },
    { type: 'text', text: 'A' },
  ],
  'reasoning after text': [
    { type: 'text', text: 'A' },
    { type: 'reasoning', text: 'late', kind: 'full', signature: 'sig', format },
    { type: 'tool_call', id: 'c', name: 'f', arguments: '{}', kind: 'function' },
  ],
  tools: [
    { type: 'text', text: 'A' },
    { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}', kind: 'function' },
    { type: 'tool_call', id: 'c2', name: 'g', arguments: '{"b":2}', kind: 'function' },
  ],
  'custom tool': [{ type: 'tool_call', id: 'c1', name: 'f', arguments: 'print', kind: 'custom' }],
  'signed call': [
    {
      type: 'tool_call',
      id: 'c1',
      name: 'f',
      arguments: '{}',
      kind: 'function',
      signature: 'gs',
      format: 'google-gemini-v1',
    },
  ],
  refusal: [{ type: 'refusal', text: 'No.' }],
  image: [{ type: 'image', src: { base64: 'AAAA', media_type: 'image/png' } }],
  citations: [
    { type: 'text', text: 'One. ' },
    {
      type: 'text',
      text: 'Two.',
      citations: [
        { kind: 'url', url: 'https://e.com', title: 'E', start: 0, end: 4 },
        { kind: 'url', url: 'https://f.com' },
        { kind: 'page', document: 0, start: 1, end: 2, cited_text: 'x' },
      ],
    },
  ],
  logprobs: [{ type: 'text', text: 'Y', logprobs: [{ token: 'Y', logprob: -1, bytes: [89], top: [] }] }],
  nothing: [],
};

describe('writing chat answers', () => {
  for (const [name, content] of Object.entries(parts)) {
    for (const include_usage of [true, false]) {
      it(`streams ${name} by the grammar, usage ${include_usage ? '' : 'not '}asked`, () => {
        const out = stream(unfoldAnswer(answerOf(content)), chatMeta({ include_usage }));
        expect(checkChatStream(out, { include_usage })).toEqual([]);
        expect(readChatStream(out).svc).toMatchObject({ request_id: '01JD0000000000000000000000' });
      });
    }

    it(`says the same of ${name} whole and in a stream`, () => {
      const answer = answerOf(content);
      const read = readChatStream(stream(unfoldAnswer(answer))).choices[0]!;
      const { message, finish_reason, logprobs } = whole(answer).choices[0];
      expect(read.content).toBe(message.content ?? '');
      expect(read.refusal).toBe(message.refusal ?? '');
      expect(read.finish).toBe(finish_reason);
      expect(read.logprobs).toEqual(logprobs?.content ?? []);
      expect(read.annotations).toEqual(message.annotations ?? []);
      expect(read.images).toEqual(message.images ?? []);
      expect(read.calls.map(({ id, name: called, arguments: text }) => [id, called, text])).toEqual(
        (message.tool_calls ?? []).map((call: Record<string, { name: string }> & { id: string }) => {
          const body = (call['function'] ?? call['custom']) as {
            name: string;
            arguments?: string;
            input?: string;
          };
          return [call.id, body.name, body.arguments ?? body.input];
        }),
      );
    });
  }

  it('carries signatures as details of their own, with empty text', () => {
    const details = readChatStream(stream(unfoldAnswer(answerOf(parts['thinking with signature']!))))
      .choices[0]!.details;
    expect(details).toEqual([
      { type: 'reasoning.text', text: 'Hm', format, index: 0 },
      { type: 'reasoning.text', text: '', signature: 'sig', format, index: 0 },
      { type: 'reasoning.encrypted', data: 'zz', id: 'r1', format, index: 1 },
    ]);
  });

  it('keeps the state of visible reasoning when a stored answer is streamed again', () => {
    const answer = answerOf(parts['a summary with its state']!);
    const { details } = readChatStream(stream(unfoldAnswer(answer))).choices[0]!;
    expect(details).toMatchObject([
      { type: 'reasoning.summary', summary: 'S', id: 'rs_1' },
      { type: 'reasoning.encrypted', data: 'zz', id: 'rs_1' },
    ]);
  });

  it('wraps state whose format has no name, so that it finds its model again', () => {
    const part: Part = { type: 'reasoning', text: '', kind: 'encrypted', data: 'raw', format: 'unknown' };
    const [detail] = whole(answerOf([part])).choices[0].message.reasoning_details;
    expect(unwrapState(detail.data)).toEqual({ f: 'unknown', m: 'up', d: 'raw' });
  });

  it('reads its own whole answer back into the same reasoning and calls', () => {
    for (const name of ['thinking with signature', 'tools', 'signed call', 'custom tool']) {
      const { message } = whole(answerOf(parts[name]!)).choices[0];
      const results = (message.tool_calls ?? []).map(({ id }: { id: string }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'r',
      }));
      const request = chat.read({ model: 'a/b', messages: [message, ...results] }, {});
      const plain = (part: Part): Part => part;
      expect(sorted(request.messages[0]!.content.map(plain))).toEqual(sorted(parts[name]!));
    }
  });

  it('hides reasoning when the caller excluded it, whole and in a stream', () => {
    const meta = chatMeta({ reasoning: 'exclude' });
    const answer = answerOf(parts['thinking with signature']!);
    expect(stream(unfoldAnswer(answer), meta)).not.toContain('reasoning_');
    expect(chat.write(answer, meta, chatEnd())).not.toContain('reasoning_content');
  });

  it('answers a request of the older function form in that form', () => {
    const meta = chatMeta({ legacy_functions: true });
    const answer = answerOf([parts['tools']![1]!], 'tool_use');
    const out = stream(unfoldAnswer(answer), meta);
    expect(checkChatStream(out, { include_usage: false })).toEqual([]);
    expect(readChatStream(out).choices[0]).toMatchObject({
      function_call: { name: 'f', arguments: '{"a":1}' },
      finish: 'function_call',
    });
    expect(whole(answer, meta).choices[0]).toMatchObject({
      message: { function_call: { name: 'f', arguments: '{"a":1}' } },
      finish_reason: 'function_call',
    });
  });

  it.each([
    ['end_turn', 'stop', null],
    ['max_tokens', 'length', null],
    ['context_window', 'length', null],
    ['stop_sequence', 'stop', null],
    ['tool_use', 'tool_calls', null],
    ['content_filter', 'content_filter', null],
    ['refusal', 'stop', null],
    ['pause', 'stop', 'turn_paused'],
    ['compaction', 'stop', 'turn_paused'],
    ['malformed', 'stop', 'malformed_output'],
  ] as const)('turns stop %s into finish %s', (reason, finish, warning) => {
    const answer = answerOf(parts['text']!, reason);
    const out = readChatStream(stream(unfoldAnswer(answer)));
    const reply = whole(answer);
    expect(out.choices[0]!.finish).toBe(finish);
    expect(reply.choices[0].finish_reason).toBe(finish);
    const codes = (svc: unknown): string[] =>
      (svc as { warnings: { code: string }[] }).warnings.map(({ code }) => code);
    expect(codes(reply.svc)).toEqual(warning === null ? [] : [warning]);
    expect(codes(out.svc)).toEqual(codes(reply.svc));
  });

  it('has every key that OpenAI always sends', () => {
    const reply = whole(answerOf(parts['text']!));
    expect(Object.keys(reply)).toEqual(['id', 'object', 'created', 'model', 'choices', 'usage', 'svc']);
    expect(reply.choices[0]).toMatchObject({ message: { refusal: null }, logprobs: null });
    expect(reply.usage).toEqual({
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    });
    expect(whole({ candidates: [], usage: null }).choices[0].message.content).toBeNull();
  });

  it('gives a call without an id the id of the request', () => {
    const nameless: Part = { type: 'tool_call', id: '', name: 'f', arguments: '{}', kind: 'function' };
    expect(whole(answerOf([nameless])).choices[0].message.tool_calls[0].id).toBe(
      'call_01JD0000000000000000000000_0',
    );
    expect(readChatStream(stream(unfoldAnswer(answerOf([nameless])))).choices[0]!.calls[0]!.id).toBe(
      'call_01JD0000000000000000000000_0',
    );
  });

  it('ends a cut answer with length and a failed one with an error that clients see', () => {
    const events = unfoldAnswer(answerOf(parts['text']!)).slice(0, 3);
    const cut = stream(events, chatMeta(), chatEnd(null, { stop: { reason: 'max_tokens' } }));
    expect(checkChatStream(cut, { include_usage: false })).toEqual([]);
    expect(readChatStream(cut).choices[0]!.finish).toBe('length');
    const writer = chat.writer(chatMeta());
    const out =
      events.map((event) => writer.write(event)).join('') +
      writer.keepAlive() +
      writer.fail({ code: 'upstream_timeout', message: 'Too slow.' }, chatEnd());
    expect(checkChatStream(out, { include_usage: false })).toEqual([]);
    expect(readChatStream(out).error).toMatchObject({ code: 'upstream_timeout', type: 'timeout_error' });
  });

  it('keeps the grammar for any answer', () => {
    const any = fc.array(fc.array(fc.constantFrom(...Object.values(parts).flat()), { maxLength: 6 }), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(any, fc.boolean(), fc.boolean(), (contents, include_usage, excluded) => {
        const candidates = contents.map((content, index) => ({
          index,
          content,
          stop: { reason: 'end_turn' as const },
        }));
        const reasoning = excluded ? ('exclude' as const) : ('include' as const);
        const meta = chatMeta({ include_usage, reasoning });
        const out = stream(unfoldAnswer({ candidates, usage: null }), meta);
        expect(checkChatStream(out, { include_usage })).toEqual([]);
      }),
    );
  });
});

function sorted(list: Part[]): string[] {
  return list
    .filter((part) => part.type !== 'text')
    .map((part) => JSON.stringify(Object.entries(part).sort()));
}

describe('the official client', () => {
  const client = (body: string): OpenAI =>
    new OpenAI({
      apiKey: 'k',
      baseURL: 'http://127.0.0.1:9/v1',
      maxRetries: 0,
      fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    });
  const ask = { model: 'a/b', messages: [{ role: 'user' as const, content: 'Hi' }], stream: true as const };

  for (const { name, sse, flags } of chatFixtures()) {
    it(`reads what the raw lane makes of ${name}`, async () => {
      const meta = chatMeta({ include_usage: true });
      const relay = rawChat.relay(meta, chatRequest(), chatTarget(flags));
      const out = runRelay(relay, [Buffer.from(sse)]);
      if (relay.state.fault !== null) {
        await expect(client(out).chat.completions.stream(ask).finalChatCompletion()).rejects.toMatchObject({
          code: 'upstream_error',
        });
        return;
      }
      // Its stream helper knows no custom calls and no function form; the plain iterator reads all.
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of await client(out).chat.completions.create(ask)) chunks.push(chunk);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
      if (name === 'custom-tool' || name === 'legacy-function') return;
      const final = await client(out).chat.completions.stream(ask).finalChatCompletion();
      const read = readChatStream(out);
      expect(final.choices[0]?.message.content ?? '').toBe(read.choices[0]!.content);
      expect(final.choices[0]?.message.tool_calls?.length ?? 0).toBe(read.choices[0]!.calls.length);
      expect(final).toMatchObject({ svc: { request_id: meta.request_id }, usage: expect.any(Object) });
    });
  }
});

describe('parts that chat has no place for', () => {
  const tool = (name: string): Part => ({
    type: 'server_tool',
    family: 'anthropic_messages',
    name,
    payload: { type: name },
  });
  // biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
  const codes = (svc: any): unknown => svc.warnings?.map(({ code }: { code: string }) => code) ?? [];
  const warned = (content: Part[]) => {
    const events = unfoldAnswer(answerOf(content));
    const last = [...stream(events).matchAll(/^data: (\{.*)$/gm)].at(-1)?.[1] ?? '{}';
    return { whole: codes(whole(answerOf(content)).svc), streamed: codes(JSON.parse(last).svc) };
  };
  const text: Part = { type: 'text', text: 'A' };

  it('are left out with one warning for each kind', () => {
    const content = [tool('code_execution'), tool('code_execution_tool_result'), text];
    expect(warned(content)).toEqual({ whole: ['content_dropped'], streamed: ['content_dropped'] });
  });

  it('are nothing to warn of where they are steps of a search, whose pages are citations', () => {
    const content = [tool('web_search'), tool('web_search_tool_result'), text];
    expect(warned(content)).toEqual({ whole: [], streamed: [] });
  });
});
