import { type ChatGrammarOptions, checkChatStream } from '@svc/test/grammar/chat.ts';
import {
  chatEnd,
  chatFixtures,
  chatMeta,
  chatRequest,
  chatTarget,
  type Fixture,
  type ReadStream,
  readChatStream,
  runRelay,
  splitAt,
} from '@svc/test/grammar/chat-fixtures.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Relay } from '../../../canonical/contract.ts';
import { canonicalRelay } from '../../../canonical/relay.ts';
import type { ReplyMeta } from '../../../canonical/types.ts';
import { chat, rawChat } from '../caller/index.ts';
import { openaiChat } from '../upstream/index.ts';

const fixtures = chatFixtures();
const byName = (name: string): Fixture => fixtures.find((fixture) => fixture.name === name)!;

function rawRelay(meta: ReplyMeta, flags: readonly string[] = [], candidates?: number): Relay {
  const generation = candidates === undefined ? {} : { candidates };
  return rawChat.relay(meta, chatRequest({ generation }), chatTarget(flags));
}

function canonical(meta: ReplyMeta, flags: readonly string[] = []): Relay {
  return canonicalRelay(openaiChat.decoder(chatRequest(), chatTarget(flags)), chat.writer(meta));
}

/** What both lanes must agree on: names of calls that came without an id are each lane's own. */
function comparable(read: ReadStream): unknown {
  for (const choice of Object.values(read.choices)) {
    choice.content = choice.content ?? '';
    for (const call of choice.calls) if (/^call_(gm1|01JD)/.test(call.id)) call.id = 'generated';
    choice.details = mergedDetails(choice.details as Record<string, unknown>[]);
    // The raw lane leaves the function form as the upstream gave it.
    if (choice.function_call !== null) {
      const { name, arguments: text } = choice.function_call;
      choice.calls = [{ id: `call_${name}_0`, type: 'function', name, arguments: text, extra: null }];
      choice.function_call = null;
      choice.finish = 'tool_calls';
    }
  }
  return { choices: read.choices, svc: read.svc, error: read.error };
}

/** The canonical lane states details for servers that give plain reasoning only; text compares apart. */
function mergedDetails(details: Record<string, unknown>[]): unknown[] {
  const known = details.filter(({ format }) => format !== 'unknown');
  const merged: Record<string, unknown>[] = [];
  for (const detail of known) {
    const last = merged.at(-1);
    if (last !== undefined && last['type'] === detail['type'] && last['index'] === detail['index']) {
      last['text'] = `${last['text'] ?? ''}${detail['text'] ?? ''}`;
      if (detail['signature'] !== undefined) last['signature'] = detail['signature'];
    } else merged.push({ ...detail });
  }
  return merged;
}

const both = [true, false];

describe('raw lane of a chat stream', () => {
  for (const fixture of fixtures) {
    for (const include_usage of both) {
      const options: ChatGrammarOptions = { include_usage };
      it(`follows the grammar on ${fixture.name}, usage ${include_usage ? '' : 'not '}asked`, () => {
        const out = runRelay(rawRelay(chatMeta(options), fixture.flags), [Buffer.from(fixture.sse)]);
        expect(checkChatStream(out, options)).toEqual([]);
      });

      it(`says what the canonical lane says on ${fixture.name}, usage ${include_usage ? '' : 'not '}asked`, () => {
        const raw = rawRelay(chatMeta(options), fixture.flags);
        const other = canonical(chatMeta(options), fixture.flags);
        const rawOut = runRelay(raw, [Buffer.from(fixture.sse)]);
        const otherOut = runRelay(other, [Buffer.from(fixture.sse)]);
        expect(checkChatStream(otherOut, options)).toEqual([]);
        expect(comparable(readChatStream(rawOut))).toEqual(comparable(readChatStream(otherOut)));
        const { early_usage: _a, service_tier: _b, content_events, ...rawState } = raw.state;
        const { early_usage: _c, service_tier: _d, content_events: events, ...otherState } = other.state;
        expect(rawState).toEqual(otherState);
        // Arguments that wait for the call before them are one event of the canonical form.
        expect(content_events - events).toBe(fixture.name === 'tools-interleaved' ? 1 : 0);
      });
    }
  }

  it('gives the same bytes for any split of the upstream bytes', () => {
    const whole = new Map(
      fixtures.map((f) => [f.name, runRelay(rawRelay(chatMeta(), f.flags), [Buffer.from(f.sse)])]),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...fixtures),
        fc.array(fc.nat(), { maxLength: 40 }),
        ({ name, sse, flags }, cuts) => {
          expect(runRelay(rawRelay(chatMeta(), flags), splitAt(sse, cuts))).toBe(whole.get(name));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('gives the same bytes when every byte comes alone', () => {
    for (const { sse, flags } of fixtures) {
      const bytes = Array.from(sse, (_, i) => Buffer.from(sse.subarray(i, i + 1)));
      const whole = runRelay(rawRelay(chatMeta({ include_usage: true }), flags), [Buffer.from(sse)]);
      expect(runRelay(rawRelay(chatMeta({ include_usage: true }), flags), bytes)).toBe(whole);
    }
  });

  it('changes nothing but id, model, usage and svc on an ordinary stream', () => {
    const { sse } = byName('unknown-fields');
    const out = runRelay(rawRelay(chatMeta({ include_usage: true })), [Buffer.from(sse)]);
    const expected = sse
      .toString()
      .replaceAll('"id":"chatcmpl-C8aXk2mTqPz4"', '"id":"01JD0000000000000000000000"')
      .replaceAll('"model":"gpt-4.1-mini-2025-04-14"', '"model":"acme/fast-1"');
    expect(out.replace(/,"svc":\{.*\}\}(?=\n\ndata: \[DONE\])/, '}')).toBe(expected);
    expect(out).toContain('"big":9007199254740993123');
    expect(out).toContain('12345678901234567890');
    expect(out).toContain('"timing":{"ms":1.5}');
  });

  it('takes the usage chunk and the usage members away when the caller did not ask', () => {
    const out = runRelay(rawRelay(chatMeta()), [Buffer.from(byName('text').sse)]);
    expect(out).not.toContain('"usage"');
    expect(out.match(/"svc":/g)).toHaveLength(1);
  });

  it('shows the provider usage object byte for byte when it is what was metered', () => {
    const out = runRelay(rawRelay(chatMeta({ include_usage: true })), [
      Buffer.from(byName('deepseek-reasoning').sse),
    ]);
    expect(out).toContain('"prompt_cache_hit_tokens":20,"prompt_cache_miss_tokens":10');
  });

  it('shows corrected usage where a flag changes the arithmetic', () => {
    const { sse, flags } = byName('xai-usage');
    const out = runRelay(rawRelay(chatMeta({ include_usage: true }), flags), [Buffer.from(sse)]);
    expect(readChatStream(out).usage).toMatchObject({ completion_tokens: 34 });
  });

  it('keeps members of chunks without choices by putting them on the next chunk', () => {
    const out = runRelay(rawRelay(chatMeta()), [Buffer.from(byName('azure-filter-results').sse)]);
    expect(out.split('\n\n')[0]).toContain('"prompt_filter_results":[{"prompt_index":0');
  });

  it('holds the finish chunk until the end is known', () => {
    const relay = rawRelay(chatMeta());
    const out = relay.push(Buffer.from(byName('text').sse)).toString();
    expect(out).toContain('"content":"!"');
    expect(out).not.toContain('"finish_reason":"stop"');
    expect(relay.end(chatEnd()).toString()).toContain('"finish_reason":"stop"');
  });

  it('ends with finish length when a limit cuts the answer', () => {
    const relay = rawRelay(chatMeta());
    const text = byName('cut').sse;
    const out = relay.push(Buffer.from(text)).toString();
    const end = relay.end(chatEnd(null, { stop: { reason: 'max_tokens' } })).toString();
    expect(checkChatStream(out + end, { include_usage: false })).toEqual([]);
    expect(readChatStream(out + end).choices[0]).toMatchObject({ content: 'Hello', finish: 'length' });
  });

  it('shows no reasoning when the caller excluded it', () => {
    for (const name of ['deepseek-reasoning', 'openrouter-details']) {
      const meta = chatMeta({ reasoning: 'exclude' });
      const out = runRelay(rawRelay(meta), [Buffer.from(byName(name).sse)]);
      expect(out).not.toMatch(/"reasoning(_content|_details)?":/);
      expect(checkChatStream(out, { include_usage: false })).toEqual([]);
    }
  });

  it('puts a member of a chunk without choices on the very next chunk', () => {
    const out = runRelay(rawRelay(chatMeta()), [Buffer.from(byName('moderation-chunk').sse)]);
    const carrier = out.split('\n\n').find((line) => line.includes('"moderation"'))!;
    expect(JSON.parse(carrier.slice(6)).choices[0].delta).toEqual({ content: 'c' });
  });

  it('does not hold a second call back once the arguments of the first are complete', () => {
    const call = (index: number, body: object): object => ({
      ...{ id: 'u', object: 'chat.completion.chunk', created: 5, model: 'm' },
      choices: [
        { index: 0, delta: { tool_calls: [{ index, ...body }] }, logprobs: null, finish_reason: null },
      ],
    });
    const start = (index: number): object =>
      call(index, { id: `c${index}`, type: 'function', function: { name: 'f', arguments: '' } });
    const more = (text: string): object => call(0, { function: { arguments: text } });
    const chunks = [start(0), ...['{"a"', ':"x', '\\"}', 'y"', ',"b":[1', ']}'].map(more), start(1)];
    const bytes = Buffer.from(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
    for (const relay of [rawRelay(chatMeta()), canonical(chatMeta())]) {
      const calls = readChatStream(relay.push(Buffer.from(bytes)).toString()).choices[0]!.calls;
      expect(calls.map(({ id, arguments: text }) => [id, text])).toEqual([
        ['c0', '{"a":"x\\"}y","b":[1]}'],
        ['c1', ''],
      ]);
    }
  });

  it('finds what is no chunk, also among chunks whose form it has learnt', () => {
    const lines = byName('deepseek-reasoning').sse.toString().split('\n\n');
    const text = lines[3]!;
    for (const bad of [
      `${text}x`,
      text.replace('"42"', '"42'),
      text.replace('"42"', '"\\x"'),
      text.slice(0, -1),
    ]) {
      const relay = rawRelay(chatMeta());
      relay.push(Buffer.from(`${lines.slice(0, 4).join('\n\n')}\n\n`));
      relay.push(Buffer.from(`${bad}\n\n${text}\n\n`));
      expect(relay.state.fault?.class, bad).toBe('protocol');
    }
  });

  it('copies chunks of a learnt form with their own text and padding', () => {
    const lines = byName('tool-single').sse.toString().split('\n\n');
    const out = runRelay(rawRelay(chatMeta()), [Buffer.from(byName('tool-single').sse)]);
    for (const line of lines.slice(1, 6)) {
      const { choices, obfuscation } = JSON.parse(line.slice(6));
      expect(out).toContain(`"choices":${JSON.stringify(choices)},"obfuscation":"${obfuscation}"`);
    }
  });

  it('takes one finish of several answers not for the end', () => {
    const lines = byName('two-choices').sse.toString().split('\n\n');
    const relay = rawRelay(chatMeta(), [], 2);
    relay.push(Buffer.from(`${[lines[0], lines[2]].join('\n\n')}\n\n`));
    const early = lines.find((line) => line.includes('"finish_reason":"length"'))!;
    relay.push(Buffer.from(`${early}\n\n`));
    expect(relay.state.stop).toBeNull();
    relay.push(Buffer.from(`${[lines[1], lines[5]].join('\n\n')}\n\n`));
    expect(relay.state.stop?.reason).toBe('end_turn');
  });

  it('keeps nothing of a read beyond its own copy', () => {
    // `runRelay` overwrites every read after the push; a view into it would show.
    const { sse } = byName('text');
    const pieces = splitAt(sse, [100, 350, 351, 352, 700, 1200, 1201]);
    expect(readChatStream(runRelay(rawRelay(chatMeta()), pieces)).choices[0]!.content).toContain('中文 😀');
  });

  it('reports an event without end as a protocol fault instead of keeping it', () => {
    const relay = rawRelay(chatMeta());
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    for (let i = 0; i < 10 && relay.state.fault === null; i++) relay.push(piece);
    expect(relay.state.fault?.class).toBe('protocol');
  });

  it('never says what the canonical lane does not, on any stream of legal chunks', () => {
    fc.assert(
      fc.property(
        anyStream,
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.boolean(),
        (text, cuts, include_usage) => {
          const bytes = Buffer.from(text);
          const raw = rawRelay(chatMeta({ include_usage }));
          const out = runRelay(raw, splitAt(bytes, cuts));
          const other = canonical(chatMeta({ include_usage }));
          const otherOut = runRelay(other, [Buffer.from(bytes)]);
          expect(checkChatStream(out, { include_usage })).toEqual([]);
          expect(checkChatStream(otherOut, { include_usage })).toEqual([]);
          expect(comparable(readChatStream(out))).toEqual(comparable(readChatStream(otherOut)));
          expect(raw.state.output_bytes).toBe(other.state.output_bytes);
          expect(raw.state.usage).toEqual(other.state.usage);
          expect(raw.state.stop).toEqual(other.state.stop);
        },
      ),
      { numRuns: 300 },
    );
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const piece = fc.oneof(
  { weight: 6, arbitrary: text.map((content) => ({ content })) },
  { weight: 1, arbitrary: text.map((content) => ({ content, role: 'assistant' })) },
  { weight: 1, arbitrary: text.map((content) => ({ content, reasoning_content: null })) },
  { weight: 1, arbitrary: fc.constant({}) },
);
const thought = text.map((reasoning_content) => ({ reasoning_content }));
const callDeltas = fc
  .array(fc.tuple(fc.json({ maxDepth: 1 }), fc.nat({ max: 5 }), fc.boolean()), { maxLength: 3 })
  .map((calls) =>
    calls.flatMap(([json, cut, whole], index) => {
      const input = JSON.stringify({ v: JSON.parse(json) });
      const id = `call_${index}`;
      const head = {
        index,
        id,
        type: 'function',
        function: { name: `f${index}`, arguments: whole ? input : '' },
      };
      if (whole) return [{ tool_calls: [head] }];
      const rest = [input.slice(0, cut), input.slice(cut)].map((part) => ({
        tool_calls: [{ index, function: { arguments: part } }],
      }));
      return [{ tool_calls: [head] }, ...rest];
    }),
  );
const framing = fc.constantFrom('\n\n', '\r\n\r\n', '\n\n', '\n: ping\n\n', '\nid: 1\n\n');

/** Streams as servers write them: role first or with the first delta, padding, usage where servers put it. */
const anyStream = fc
  .record({
    role: fc.boolean(),
    thoughts: fc.array(thought, { maxLength: 3 }),
    pieces: fc.array(piece, { maxLength: 8 }),
    calls: callDeltas,
    padded: fc.boolean(),
    finish: fc.constantFrom('stop', 'length', 'content_filter'),
    usage: fc.constantFrom('finish', 'own', 'none'),
    eol: framing,
    done: fc.boolean(),
  })
  .map(({ role, thoughts, pieces, calls, padded, finish, usage, eol, done }) => {
    const head = {
      id: 'u-1',
      object: 'chat.completion.chunk',
      created: 5,
      model: 'm-1',
    };
    const chunk = (delta: object, reason: string | null = null): object => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      usage: null,
      ...(padded ? { obfuscation: 'x'.repeat(JSON.stringify(delta).length % 7) } : {}),
    });
    const figures = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
    const chunks: object[] = role ? [chunk({ role: 'assistant', content: '' })] : [];
    chunks.push(...[...thoughts, ...pieces, ...calls].map((delta) => chunk(delta)));
    const last = chunk({}, calls.length > 0 ? 'tool_calls' : finish);
    chunks.push(usage === 'finish' ? { ...last, usage: figures } : last);
    if (usage === 'own') chunks.push({ ...head, choices: [], usage: figures });
    const lines = chunks.map((item) => `data: ${JSON.stringify(item)}${eol}`);
    return lines.join('') + (done ? `data: [DONE]${eol}` : '');
  });
