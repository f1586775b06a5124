// The raw lane of completions: bytes kept, grammar by construction, prompts in every form, and what counts as output.
import { chatEnd, chatMeta, chatTarget, runRelay, splitAt } from '@svc/test/grammar/chat-fixtures.ts';
import { checkCompletionsStream } from '@svc/test/grammar/completions.ts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../../../kernel/index.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import type { EncodeOptions } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Stop } from '../../../canonical/types.ts';
import { openaiChat } from '../../openai-chat/upstream/index.ts';
import { completions } from '../caller/index.ts';
import { rawCompletions } from './index.ts';

const target = chatTarget(['completions_path']);
const options: EncodeOptions = {
  stream: true,
  max_tokens: 64,
  user: 'hash',
  cache_key: 'key-hash',
  extra: {},
};

function read(more: JsonObject): CanonicalRequest {
  return completions.read({ model: 'acme/base', prompt: 'Once', ...more }, {});
}

function sent(text: string, over: Partial<EncodeOptions> = {}, to = target): string {
  const request = completions.read(JSON.parse(text), {});
  const { path, body } = rawCompletions.request(Buffer.from(text), request, to, { ...options, ...over });
  expect(path).toBe('/completions');
  return body.toString();
}

describe('the body that goes up', () => {
  it('is the caller’s but for what is ours', () => {
    const text =
      '{ "model":"acme/base", "prompt" : ["a\\u0041", "b"],"suffix":"z","echo":true,"best_of":3,"logprobs":5,' +
      '"seed":9007199254740993,"max_tokens":64,"own":{"n":1.50},"n":2,"stream":true,"stream_options":{"x":1},' +
      '"user":"ann","prompt_cache_key":"k","metadata":{"team":"a"},"store":true,"svc":{"app":"x"}}';
    const expected =
      '{ "model":"fast-1-upstream", "prompt" : ["a\\u0041", "b"],"suffix":"z","echo":true,"best_of":3,"logprobs":5,' +
      '"seed":9007199254740993,"max_tokens":64,"own":{"n":1.50},"n":2,"stream":true,"stream_options":{"x":1,"include_usage":true},' +
      '"user":"hash","prompt_cache_key":"key-hash"}';
    expect(sent(text)).toBe(expected);
  });

  it('names the cap as this path does, carries no stream options of a whole answer, and obeys flags', () => {
    const text =
      '{"model":"m/x","prompt":[1,2],"max_completion_tokens":64,"stream_options":{"include_usage":true},"user":"ann"}';
    expect(JSON.parse(sent(text))).toEqual({
      model: 'fast-1-upstream',
      prompt: [1, 2],
      max_tokens: 64,
      user: 'hash',
    });
    const other = chatTarget(['completions_path', 'no_user_field']);
    expect(JSON.parse(sent(text, { extra: { top_k: 3 } }, other))).toMatchObject({ top_k: 3 });
    expect(sent(text, {}, other)).not.toContain('user');
  });

  it('is refused with a key twice', () => {
    const text = '{"model":"m/x","prompt":"a","max_tokens":1,"max_tokens":2}';
    expect(() => sent(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  });

  it('goes only to endpoints that have the path', () => {
    const asked = read({});
    expect(rawCompletions.serves?.(target, asked)).toBe(true);
    expect(rawCompletions.serves?.(chatTarget(), asked)).toBe(false);
  });
});

describe('reading', () => {
  test.each<[string, JsonObject, object | undefined]>([
    ['one text', {}, undefined],
    ['a list of one text', { prompt: ['a'] }, undefined],
    ['what asks for nothing', { suffix: '', echo: false, best_of: 1, logprobs: null }, undefined],
    ['texts', { prompt: ['a', 'b'] }, { prompts: 2, tokens: 0, asks: [], best_of: 1 }],
    ['token ids', { prompt: [5, 6, 7] }, { prompts: 1, tokens: 3, asks: [], best_of: 1 }],
    ['lists of ids', { prompt: [[5], [6, 7]] }, { prompts: 2, tokens: 3, asks: [], best_of: 1 }],
    [
      'every field',
      { prompt: 'aé', suffix: 's', echo: true, best_of: 4, n: 2, logprobs: 0 },
      { prompts: 1, tokens: 0, asks: ['suffix', 'echo', 'best_of', 'logprobs'], best_of: 4, echo: [3] },
    ],
  ])('reports for %s what only its path can do', (_name, more, preferences) => {
    expect(read(more).completion).toEqual(preferences);
  });

  it('keeps every prompt', () => {
    const texts = read({ prompt: ['a', 'b'] }).messages;
    expect(texts.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'a' }],
      [{ type: 'text', text: 'b' }],
    ]);
    const ids = read({ prompt: [[5], [6, 7]] }).messages;
    expect(ids.map(({ ext }) => ext)).toEqual([{ prompt_tokens: [5] }, { prompt_tokens: [6, 7] }]);
  });

  test.each<[JsonObject, string]>([
    [{ prompt: [] }, 'prompt'],
    [{ prompt: 7 }, 'prompt'],
    [{ prompt: ['a', 7] }, 'prompt[1]'],
    [{ prompt: [{}] }, 'prompt[0]'],
    [{ prompt: [1, 'a'] }, 'prompt[1]'],
    [{ prompt: [1, -1] }, 'prompt[1]'],
    [{ prompt: [1.5] }, 'prompt[0]'],
    [{ prompt: [[1], []] }, 'prompt[1]'],
    [{ prompt: [[1], 'a'] }, 'prompt[1]'],
    [{ prompt: Array(9).fill('a') }, 'prompt'],
    [{ prompt: ['a', 'b', 'c'], n: 3 }, 'n'],
    [{ best_of: 2, n: 3 }, 'best_of'],
    [{ best_of: 21 }, 'best_of'],
    [{ suffix: 1 }, 'suffix'],
    [{ echo: 'yes' }, 'echo'],
    [{ logprobs: -1 }, 'logprobs'],
    [{ max_tokens: -1 }, 'max_tokens'],
  ])('refuses %j', (more, param) => {
    expect(() => read(more)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
  });
});

describe('losses', () => {
  const lost = (more: JsonObject, flags: string[]) =>
    openaiChat
      .losses(read(more), chatTarget(flags))
      .map(({ class: kind, code, param, essential }) =>
        [kind, code, param, ...(essential ? ['essential'] : [])].join(' '),
      );
  const as_chat = 'behaviour completion_as_chat prompt';

  it('are none where the endpoint has the path', () => {
    const more = {
      prompt: [[1], [2]],
      suffix: 's',
      echo: true,
      best_of: 2,
      logprobs: 1,
      max_tokens: 0,
      own: 1,
    };
    expect(lost(more, ['completions_path'])).toEqual([]);
  });

  it('are reported field by field elsewhere; several prompts and token ids cannot be dropped', () => {
    expect(lost({}, [])).toEqual([as_chat]);
    expect(lost({ prompt: ['a', 'b'] }, [])).toEqual([
      as_chat,
      'content unsupported_parameter prompt essential',
    ]);
    const tokens = lost({ prompt: [1] }, []).filter((one) => one.startsWith('content'));
    expect(tokens).toEqual(['content unsupported_parameter prompt essential']);
    expect(lost({ suffix: 's', echo: true, best_of: 2, logprobs: 1, own: 1 }, [])).toEqual([
      as_chat,
      ...['suffix', 'echo', 'best_of', 'logprobs'].map((name) => `content unsupported_parameter ${name}`),
      'behaviour unknown_parameter_dropped own',
    ]);
  });
});

const head = '"id":"cmpl-1","object":"text_completion","created":1763740000,"model":"base-up"';
const usage = '"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"own":1}';
const frame = (rest: string) => `data: {${head},${rest}}\n\n`;
const choice = (index: number, text: string, more = '"logprobs":null,"finish_reason":null') =>
  `{"index":${index},"text":${JSON.stringify(text)},${more}}`;
const one = (index: number, text: string, more?: string) => frame(`"choices":[${choice(index, text, more)}]`);
const ended = (word: string) => `"logprobs":null,"finish_reason":"${word}"`;

/** Streams as servers write them. */
const streams: readonly [string, string, number][] = [
  [
    'ordinary',
    one(0, 'Hé 🌍') +
      one(0, ' there', '"logprobs":null,"finish_reason":null,"own":{"n":1.50}') +
      one(0, '', ended('stop')) +
      frame(`"choices":[],${usage}`) +
      'data: [DONE]\n\n',
    1,
  ],
  [
    'text and finish in one chunk, as vLLM',
    one(0, 'a') +
      one(0, 'b', `"logprobs":{"tokens":["b"]},"finish_reason":"length","stop_reason":null,"token_ids":[4]`) +
      frame(`"choices":[],${usage}`) +
      'data: [DONE]\n\n',
    1,
  ],
  [
    'choices interleaved and together',
    frame(`"choices":[${choice(0, 'a')},${choice(1, 'b')}]`) +
      one(1, 'c') +
      one(0, 'd', ended('eos')) +
      one(1, '', ended('length')) +
      frame(`"choices":[],${usage}`) +
      'data: [DONE]\n\n',
    2,
  ],
  [
    'usage on every chunk, CRLF, comments, no space, no usage chunk',
    `: hi\r\n\r\ndata:{${head},"choices":[${choice(0, 'a')}],${usage}}\r\n\r\n` +
      `data: {${head},"choices":[{"index":0,"text":"b","finish_reason":"stop"}],${usage}}\r\n\r\ndata: [DONE]\r\n\r\n`,
    1,
  ],
  ['no finish reason but an end mark', `${one(0, '')}data: [DONE]\n\n`, 1],
  ['no end mark', one(0, 'a') + one(0, '', ended('stop')), 1],
  ['an error in mid-stream', `${one(0, 'a')}data: {"error":{"message":"over","type":"overloaded"}}\n\n`, 1],
  ['a cut', one(0, 'a') + one(0, 'b').slice(0, 30), 1],
  ['a chat', frame('"choices":[{"index":0,"delta":{"content":"a"}}]'), 1],
];

function relayOf(include_usage: boolean, candidates: number, more: JsonObject = {}) {
  return rawCompletions.relay(chatMeta({ include_usage }), read({ n: candidates, ...more }), target);
}

describe('a stream', () => {
  const cases = streams.flatMap(([name, sse, n]) => [true, false].map((asked) => ({ name, sse, n, asked })));

  it.each(cases)('follows the grammar: $name, usage asked: $asked', ({ sse, n, asked }) => {
    const out = runRelay(relayOf(asked, n), [Buffer.from(sse)]);
    expect(checkCompletionsStream(out, { include_usage: asked })).toEqual([]);
  });

  it('gives the same bytes for any split of the upstream bytes', () => {
    const whole = new Map(
      streams.map(([name, sse, n]) => [name, runRelay(relayOf(true, n), [Buffer.from(sse)])]),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.nat(), { maxLength: 40 }),
        ([name, sse, n], cuts) => {
          expect(runRelay(relayOf(true, n), splitAt(Buffer.from(sse), cuts))).toBe(whole.get(name));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('passes over an event of null, with which llama.cpp begins one of several prompts', () => {
    const [, sse, n] = streams[0]!;
    const plain = runRelay(relayOf(true, n), [Buffer.from(sse)]);
    const relay = relayOf(true, n);
    expect(runRelay(relay, [Buffer.from(`data: null\n\n${sse}`)])).toBe(plain);
    expect(relay.state.fault).toBe(null);
  });

  it('says the same of chunks that it copies as of those that it reads', () => {
    const pieces = fc.array(fc.tuple(fc.nat(2), fc.string({ unit: 'binary', maxLength: 12 }), fc.boolean()), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(pieces, fc.boolean(), (said, include_usage) => {
        const spelt = said.map(([index, text, odd]) =>
          odd
            ? frame(`"choices":[${choice(index, text)}],"obfuscation":"${'x'.repeat(text.length)}"`)
            : one(index, text),
        );
        // With a comment in front every event is read by the general reader and parsed.
        const read = spelt.map((line) => `: c\n${line}`);
        const [copied, parsed] = [spelt, read].map((lines) => {
          const relay = relayOf(include_usage, 3, { prompt: 'echo', echo: true });
          const out = runRelay(relay, [Buffer.from(`${lines.join('')}data: [DONE]\n\n`)]);
          return { out: out.replaceAll(/,"usage":null/g, ''), state: relay.state };
        });
        expect(copied).toEqual(parsed);
      }),
    );
  });

  it('changes nothing but id, model, usage and svc on an ordinary one', () => {
    const sse = streams[0]![1];
    const out = runRelay(relayOf(true, 1), [Buffer.from(sse)]);
    const same = sse.replaceAll('cmpl-1', '01JD0000000000000000000000').replaceAll('base-up', 'acme/fast-1');
    expect(
      out.replace(/,"svc":.*\}\n\ndata: \[DONE\]/, '}\n\ndata: [DONE]').replaceAll(',"usage":null', ''),
    ).toBe(same);
  });

  it('repeats no text, log probability or token id in a finish chunk of its own', () => {
    const out = runRelay(relayOf(false, 1), [Buffer.from(streams[1]![1])]);
    const chunks = out.split('\n\n').filter((line) => line.startsWith('data: {'));
    const choices = chunks.map((line) => JSON.parse(line.slice(6)).choices[0]);
    expect(choices.slice(1)).toEqual([
      {
        index: 0,
        text: 'b',
        logprobs: { tokens: ['b'] },
        finish_reason: null,
        stop_reason: null,
        token_ids: [4],
      },
      { index: 0, text: '', logprobs: null, finish_reason: 'length', stop_reason: null },
    ]);
  });

  it('says what a kept answer says, log probabilities included', () => {
    const logprobs =
      '"logprobs":{"tokens":["a"," b"],"token_logprobs":[null,-0.5],"top_logprobs":[null,{" b":-0.5}],"text_offset":[0,1]}';
    const sse = Buffer.from(
      `${one(0, 'a b', `${logprobs},"finish_reason":null`)}${one(0, '', ended('stop'))}data: [DONE]\n\n`,
    );
    const decoder = openaiChat.decoder(read({}), target);
    const { answer } = foldEvents([...decoder.push(sse), ...decoder.end()]);
    const kept = JSON.parse(JSON.stringify(answer));
    const said = JSON.parse(completions.write(kept, chatMeta(), chatEnd(null)));
    expect(said.choices).toEqual([
      { index: 0, text: 'a b', ...JSON.parse(`{${logprobs}}`), finish_reason: 'stop' },
    ]);
  });

  it('is whole when every choice asked for has stopped, not before', () => {
    const relay = relayOf(false, 2, { prompt: ['a', 'b'] });
    const stops: (Stop | null)[] = [];
    for (const index of [0, 1, 2, 3]) {
      relay.push(Buffer.from(one(index, 'x', ended('stop'))));
      stops.push(relay.state.stop);
    }
    expect(stops).toEqual([null, null, null, { reason: 'end_turn', raw: 'stop' }]);
  });

  it('does not count an echoed prompt as output', () => {
    const relay = relayOf(false, 2, { prompt: ['prompt', 'p'], echo: true });
    for (const [index, text] of [
      [0, 'pro'],
      [0, 'mptab'],
      [1, 'prompta'],
      [2, 'pab'],
      [3, 'p'],
    ] as const)
      relay.push(Buffer.from(one(index, text)));
    expect(relay.state.output_bytes).toBe(5);
    const body = JSON.stringify({
      choices: [JSON.parse(choice(0, 'promptab')), JSON.parse(choice(1, 'pr'))],
    });
    const asked = read({ prompt: 'prompt', n: 2, echo: true });
    expect(rawCompletions.whole(Buffer.from(body), asked, target).output_bytes).toBe(2);
  });
});

describe('a whole answer', () => {
  const text =
    `{"id": "cmpl-1", "object":"text_completion","created":1,"model":"base-up","choices":[${choice(0, 'a', ended('stop'))}, ` +
    `{"text":"b","finish_reason":"eos","own":9007199254740993}],${usage}}`;
  const whole = () => rawCompletions.whole(Buffer.from(text), read({ n: 2 }), target);
  const of = (end = {}) =>
    JSON.parse(
      whole()
        .finish(chatMeta(), { ...chatEnd(whole().usage), ...end })
        .toString(),
    );

  it('keeps its bytes and is completed where it lacks something', () => {
    const out = whole().finish(chatMeta(), chatEnd(whole().usage)).toString();
    expect(out).toContain('"own":9007199254740993');
    expect(out).toContain(usage);
    expect(of()).toMatchObject({
      id: '01JD0000000000000000000000',
      model: 'acme/fast-1',
      svc: { provider: 'acme' },
    });
    expect(of().choices[1]).toMatchObject({ index: 1, text: 'b', logprobs: null, finish_reason: 'stop' });
  });

  it('reports usage, bytes and stop reason, and the limit as stop reason where a limit cut it', () => {
    expect(whole()).toMatchObject({
      output_bytes: 2,
      stop: { reason: 'end_turn' },
      usage: { output_tokens: 10 },
    });
    const words = of({ stop: { reason: 'max_tokens' } }).choices.map((c: JsonObject) => c['finish_reason']);
    expect(words).toEqual(['length', 'length']);
  });

  test.each([
    '{"choices":[{"message":{"content":"a"}}]}',
    '{"choices":[7]}',
    '{}',
    'no',
    '{"choices":[{"text":7}]}',
  ])('that is none is a fault: %s', (body) => {
    expect(() => rawCompletions.whole(Buffer.from(body), read({}), target)).toThrow();
  });
});
