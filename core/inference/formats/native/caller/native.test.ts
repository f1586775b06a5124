// The native wire: what is read, and that a stream and a whole answer say the same, cut or failed anywhere.

import { checkNativeStream, readNativeStream } from '@svc/test/grammar/native.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../kernel/index.ts';
import { assemble, unfoldAnswer } from '../../../canonical/assemble.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import type { CanonicalEvent, Logprob, Part, ReplyEnd, ReplyMeta, Stop } from '../../../canonical/types.ts';
import { builtIn } from '../../index.ts';

const native = builtIn.dialects.get('/v1/svc/generate') as Dialect;

const meta: ReplyMeta = {
  request_id: '01JD0000000000000000000000',
  base_url: 'https://llm.example',
  model: 'acme/fast-1',
  created: 1_763_740_000,
  provider: 'acme',
  endpoint_id: 'ep_1',
  include_usage: true,
  reasoning: 'include',
  legacy_functions: false,
  input_estimate: 10,
  upstream_model: 'fast-1-upstream',
  region: 'eu-west',
  attempt: 2,
};
const usage = {
  input_tokens: 19,
  output_tokens: 10,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  source: 'provider' as const,
};
const end: ReplyEnd = {
  usage,
  cost: { total_micro_usd: 123, lines: [], price_version: 'prc_1' },
  warnings: [{ code: 'sampling_dropped', param: 'top_k', message: 'Not taken.' }],
  timing: { ttft_ms: 5, duration_ms: 9, upstream_ttft_ms: 4 },
};

type Delta = Omit<Extract<CanonicalEvent, { type: 'part_delta' }>, 'type' | 'candidate' | 'part'>;

const text = fc.string({ unit: 'binary', maxLength: 6 });
const citation = fc.constant({ kind: 'url' as const, url: 'https://a.example', cited_text: '"é\n' });
const logprobs = fc
  .constant(null)
  .map((): Logprob[] => [{ token: 'a', logprob: -0.5, bytes: [97], top: [] }]);
const source = () => ({ base64: 'AAAA', media_type: 'image/png' });

const parts: fc.Arbitrary<{ content: Part; deltas: Delta[] }> = fc.oneof(
  fc.record({
    content: text.map((said): Part => ({ type: 'text', text: said, ext: { kept: true } })),
    deltas: fc.array(
      fc.oneof(
        fc.record({ text }),
        fc.record({ citation }),
        fc.record({ logprobs }),
        fc.record({ text, logprobs }),
        // What does not belong to a text adds nothing.
        fc.record({ arguments: text, signature: text, data: text }),
      ),
      { maxLength: 5 },
    ),
  }),
  fc.record({
    content: text.map((said): Part => ({ type: 'refusal', text: said })),
    deltas: fc.array(fc.record({ text })),
  }),
  fc.record({
    content: fc.record({ said: text, signed: fc.option(text) }).map(
      ({ said, signed }): Part => ({
        type: 'reasoning',
        text: said,
        kind: 'full',
        format: 'unknown',
        ...(signed === null ? {} : { signature: signed }),
      }),
    ),
    deltas: fc.array(
      fc.oneof(fc.record({ text }), fc.record({ signature: text }), fc.record({ data: text })),
    ),
  }),
  fc.record({
    content: text.map(
      (said): Part => ({
        type: 'reasoning',
        text: '',
        kind: 'encrypted',
        data: said,
        format: 'openai-responses-v1',
      }),
    ),
    deltas: fc.constant<Delta[]>([]),
  }),
  fc.record({
    content: fc
      .record({ id: fc.constantFrom('', 'call_1'), said: text })
      .map(
        ({ id, said }): Part => ({ type: 'tool_call', id, name: 'look', arguments: said, kind: 'function' }),
      ),
    deltas: fc.array(fc.oneof(fc.record({ arguments: text }), fc.record({ signature: text }))),
  }),
  fc.record({
    content: fc.constant(null).map((): Part => ({ type: 'image', src: source() })),
    deltas: fc.array(fc.record({ data: fc.constantFrom('BBBB', '') })),
  }),
  fc.record({
    content: fc.constant(null).map((): Part => ({ type: 'audio', src: source() })),
    deltas: fc.array(fc.oneof(fc.record({ text }), fc.record({ data: fc.constant('BBBB') }))),
  }),
  fc.record({
    content: fc.constant<Part>({
      type: 'server_tool',
      family: 'anthropic_messages',
      name: 'x_tool_result',
      payload: { type: 'x_tool_result' },
    }),
    deltas: fc.constant<Delta[]>([]),
  }),
);

const stops: fc.Arbitrary<Stop | null> = fc.constantFrom<(Stop | null)[]>(
  null,
  { reason: 'end_turn', raw: 'stop' },
  { reason: 'stop_sequence', sequence: '\n' },
  { reason: 'refusal', detail: { category: 'x' } },
);

/** Events of an answer of up to three candidates, whose parts take turns. */
const streams: fc.Arbitrary<CanonicalEvent[]> = fc
  .record({
    candidates: fc.array(fc.record({ parts: fc.array(parts, { maxLength: 4 }), stop: stops }), {
      maxLength: 3,
    }),
    turns: fc.array(fc.nat(2), { maxLength: 40 }),
  })
  .map(({ candidates, turns }) => {
    const queues = candidates.map(({ parts: all, stop }, candidate) => {
      const events = all.flatMap(({ content, deltas }, part): CanonicalEvent[] => [
        { type: 'part_start', candidate, part, content: structuredClone(content) },
        ...deltas.map((delta): CanonicalEvent => ({ type: 'part_delta', candidate, part, ...delta })),
        { type: 'part_stop', candidate, part },
      ]);
      return stop === null ? events : [...events, { type: 'stop', candidate, stop } as CanonicalEvent];
    });
    const events: CanonicalEvent[] = [{ type: 'start', upstream_model: 'told' }];
    for (const turn of turns) events.push(...(queues[turn]?.splice(0, 1) ?? []));
    for (const queue of queues) events.push(...queue);
    return [...events, { type: 'usage', usage }, { type: 'finish' }];
  });

function written(events: readonly CanonicalEvent[], change: Partial<ReplyMeta> = {}): string {
  const writer = native.writer({ ...meta, ...change });
  return events.map((event) => writer.write(event)).join('') + writer.end(end);
}

const whole = (events: readonly CanonicalEvent[], change: Partial<ReplyMeta> = {}) =>
  JSON.parse(native.write(assemble(events), { ...meta, ...change }, end));

describe('a stream and a whole answer', () => {
  it.each(['include', 'exclude'] as const)('say exactly the same (reasoning: %s)', (reasoning) => {
    fc.assert(
      fc.property(streams, (events) => {
        const bytes = written(structuredClone(events), { reasoning });
        expect(checkNativeStream(bytes)).toEqual([]);
        const expected = whole(events, { reasoning });
        // Nothing told of a candidate but its being there: a stream has no event for that.
        expected.candidates.sort((a: { index: number }, b: { index: number }) => a.index - b.index);
        expect(readNativeStream(bytes)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('say the same when the answer is replayed', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const stored = JSON.parse(JSON.stringify(assemble(structuredClone(events))));
        const bytes = written(unfoldAnswer(stored));
        expect(checkNativeStream(bytes)).toEqual([]);
        expect(readNativeStream(bytes)).toEqual(JSON.parse(native.write(stored, meta, end)));
      }),
    );
  });

  it('follow the grammar wherever they are cut off or fail, and in whatever order events come', () => {
    const fault = { code: 'upstream_incomplete' as const, message: 'cut' };
    fc.assert(
      fc.property(streams, fc.nat(60), fc.boolean(), fc.boolean(), (events, at, fails, disorder) => {
        const writer = native.writer(meta);
        const some = disorder ? [...events].reverse() : events;
        let bytes = '';
        for (const event of some.slice(0, at)) bytes += writer.write(structuredClone(event));
        bytes += fails ? writer.fail(fault, end) : writer.end({ ...end, stop: { reason: 'max_tokens' } });
        expect(checkNativeStream(bytes)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('nothing of an attempt is written before its first content', () => {
    const writer = native.writer(meta);
    expect(writer.write({ type: 'start' })).toBe('');
    expect(
      writer.write({ type: 'part_start', candidate: 0, part: 0, content: { type: 'text', text: '' } }),
    ).toBe('');
    const failed = writer.fail({ code: 'upstream_error', message: 'failed' }, end);
    expect(checkNativeStream(failed)).toEqual([]);
    expect(failed.match(/^event: /gm)).toHaveLength(2);
  });

  it('tell of a limit only the candidates that had not stopped', () => {
    const events: CanonicalEvent[] = [
      { type: 'stop', candidate: 0, stop: { reason: 'end_turn' } },
      { type: 'part_start', candidate: 1, part: 0, content: { type: 'text', text: 'a' } },
    ];
    const cut: ReplyEnd = { ...end, stop: { reason: 'max_tokens' } };
    const writer = native.writer(meta);
    const bytes = events.map((event) => writer.write(event)).join('') + writer.end(cut);
    const answer = JSON.parse(native.write(assemble(events), meta, cut));
    expect(readNativeStream(bytes)).toEqual(answer);
    expect(answer.candidates.map(({ stop }: { stop: Stop }) => stop.reason)).toEqual([
      'end_turn',
      'max_tokens',
    ]);
  });
});

const ask = { model: 'acme/fast-1', messages: [{ role: 'user', content: 'Hi' }] };

function refusal(change: object): { code: string; param: string | null } {
  try {
    native.read({ ...ask, ...change }, {});
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('nothing was refused');
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });

describe('the native reader', () => {
  it('takes every field of the form', () => {
    const request = native.read(
      {
        model: 'acme/fast-1',
        messages: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            name: 'ann',
            content: [
              { type: 'text', text: 'Look', cache: { ttl: '1h' } },
              { type: 'image', src: { base64: 'AAAA', media_type: 'image/png' }, detail: 'low' },
              { type: 'audio', src: { base64: 'AAAA', media_type: 'audio/mpeg' } },
              { type: 'document', src: { text: 'words' }, title: 't', citations: true },
              { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
            ],
          },
          { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{}' }] },
          { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c1', content: 'done' }] },
        ],
        tools: [{ name: 'f', schema: { type: 'object' }, strict: true }],
        tool_choice: { type: 'auto', names: ['f'] },
        generation: { max_tokens: 9, temperature: 1, stop: ['x'], candidates: 2, logprobs: 0, seed: null },
        reasoning: { effort: 'high', include: false },
        output: { format: { type: 'json_schema', name: 'n', schema: {} }, verbosity: 'low' },
        cache: { key: 'k', ttl: '24h' },
        service_tier: 'flex',
        route: { sort: 'price', fallbacks: false },
        metadata: { a: 'b' },
        compat: 'strict',
        provider_options: { acme: { x: 1 } },
        app: 'app',
        user: 'u',
        session: 's',
        stream: true,
      },
      {},
    );
    expect(request).toMatchObject({
      dialect: 'native',
      stream: true,
      generation: { max_tokens: 9, temperature: 1, stop: ['x'], candidates: 2, logprobs: 0 },
      reasoning: { effort: 'high' },
      cache: { key: 'k', hint: { ttl: '24h' } },
      tool_choice: { type: 'auto', names: ['f'] },
      tools: [{ kind: 'function', name: 'f', strict: true }],
      svc: {
        route: { sort: 'price', fallbacks: false },
        metadata: { a: 'b' },
        compat: 'strict',
        reasoning: 'exclude',
      },
    });
    expect(request.messages[1]?.content[2]).toMatchObject({ type: 'audio', format: 'mp3' });
  });

  it('takes back what an answer said', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const answer = JSON.parse(native.write(assemble(events), meta, end));
        for (const { content } of answer.candidates) {
          const calls = content.filter(({ type }: Part) => type === 'tool_call');
          // Two calls of one id are one call; only the sandbox of a property test makes such.
          if (calls.length > 1) continue;
          const results = calls.map(({ id }: { id: string }) => ({
            type: 'tool_result',
            tool_call_id: id,
            content: [],
          }));
          const messages = [...ask.messages, { role: 'assistant', content }];
          if (results.length > 0) messages.push({ role: 'tool', content: results });
          const request = native.read({ ...ask, messages }, {});
          expect(request.messages[1]?.content).toHaveLength(content.length);
        }
      }),
    );
  });

  it('takes header alternatives below the body, as every dialect', () => {
    const headers = {
      'x-svc-app': 'head',
      'x-svc-compat': 'drop',
      'x-svc-route': '{"sort":"latency","fallbacks":false}',
    };
    const { svc } = native.read({ ...ask, app: 'body', route: { sort: 'price' } }, headers);
    expect(svc).toMatchObject({ app: 'body', compat: 'drop', route: { sort: 'price', fallbacks: false } });
  });

  it.each<[string, object, string]>([
    ['an unknown field', { temperature: 1 }, 'temperature'],
    ['a svc object', { svc: {} }, 'svc'],
    ['an unknown field inside', { generation: { max_token: 5 } }, 'generation.max_token'],
    ['a misspelt privacy preference', { route: { require: { zrd: true } } }, 'route.require.zrd'],
    ['an unknown part', user({ type: 'image_url', url: 'x' }), 'messages[0].content[0].type'],
    [
      'an unknown field of a part',
      user({ type: 'text', text: 'a', bold: true }),
      'messages[0].content[0].bold',
    ],
    ['wire leftovers', user({ type: 'text', text: 'a', ext: {} }), 'messages[0].content[0].ext'],
    [
      'a part of another role',
      user({ type: 'tool_call', id: 'a', name: 'b', arguments: '' }),
      'messages[0].content[0].type',
    ],
    [
      'a source of two forms',
      user({ type: 'image', src: { base64: 'AA', media_type: 'x', url: 'https://a' } }),
      'messages[0].content[0].src.url',
    ],
    [
      'what is not base64',
      user({ type: 'image', src: { base64: 'A"},"model":"x', media_type: 'image/png' } }),
      'messages[0].content[0].src.base64',
    ],
    [
      'an address without TLS',
      user({ type: 'image', src: { url: 'http://a' } }),
      'messages[0].content[0].src.url',
    ],
    ['no messages', { messages: [] }, 'messages'],
    ['a message of nothing', { messages: [{ role: 'user', content: [] }] }, 'messages[0].content'],
    ['a role of another dialect', { messages: [{ role: 'developer', content: 'x' }] }, 'messages[0].role'],
    [
      'a result without a call',
      { messages: [{ role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'x', content: 'y' }] }] },
      'messages[0]',
    ],
    ['too many candidates', { generation: { candidates: 9 } }, 'generation.candidates'],
    [
      'a server tool under another name',
      { tools: [{ kind: 'server', name: 'web_search', family: 'gemini', payload: { type: 'shell' } }] },
      'tools[0].payload.type',
    ],
    ['effort without reasoning', { reasoning: { mode: 'off', effort: 'high' } }, 'reasoning.effort'],
    ['a schema that is missing', { output: { format: { type: 'json_schema' } } }, 'output.format.schema'],
    [
      'a forbidden provider option',
      { provider_options: { acme: { model: 'x' } } },
      'provider_options.acme.model',
    ],
    [
      'a stored file as a block',
      {
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'server_tool', family: 'openai_chat', name: 'file', payload: { type: 'file' } },
            ],
          },
        ],
      },
      'messages[0].content[0]',
    ],
  ])('refuses %s by its path', (_name, change, param) => {
    expect(refusal(change).param).toBe(param);
  });

  it('names fields of shared refusals in its own words', () => {
    const reported = (param: string) =>
      native.error(new ServiceError('invalid_request', 'm', { param }), meta)['error'] as { param: string };
    expect(reported('max_tokens').param).toBe('generation.max_tokens');
    expect(reported('svc.route.fallback_models[0]').param).toBe('route.fallback_models[0]');
    expect(reported('messages[0].content').param).toBe('messages[0].content');
    expect(whole([]).warnings[0].param).toBe('generation.top_k');
  });
});
