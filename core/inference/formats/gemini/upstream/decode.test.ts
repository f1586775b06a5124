// The family's answers, whole and streamed, and how its faults are classed.
import { describe, expect, test } from 'vitest';
import { asked, decode, fixture, streams, target } from '../../../../../test/grammar/gemini-cases.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import { EventTracker } from '../../../canonical/relay-state.ts';
import type { CanonicalEvent, CanonicalRequest, Part } from '../../../canonical/types.ts';
import { utf16At } from './grounding.ts';
import { gemini } from './index.ts';
import { readUsage } from './usage.ts';

const searching = asked({
  tools: [{ kind: 'server', name: 'google_search', family: 'gemini', payload: { googleSearch: {} } }],
});

function read(name: string, of: CanonicalRequest = asked()) {
  return foldEvents(decode(fixture(`${name}.sse`), undefined, of));
}

function parts(name: string, of?: CanonicalRequest): Part[] {
  return read(name, of).answer.candidates[0]?.content ?? [];
}

/** Faults of the order that canonical events must keep. */
function disorder(events: readonly CanonicalEvent[]): string[] {
  const faults: string[] = [];
  const open = new Map<number, number>();
  const next = new Map<number, number>();
  for (const event of events) {
    if (event.type === 'part_start') {
      if (open.has(event.candidate)) faults.push('a part begins inside another');
      if (event.part !== (next.get(event.candidate) ?? 0)) faults.push('a part is out of turn');
      open.set(event.candidate, event.part);
      next.set(event.candidate, event.part + 1);
    } else if (event.type === 'part_delta' && open.get(event.candidate) !== event.part) {
      faults.push('a delta of no open part');
    } else if (event.type === 'part_stop') {
      if (open.get(event.candidate) !== event.part) faults.push('a part ends that is not open');
      open.delete(event.candidate);
    } else if (event.type === 'stop' && open.has(event.candidate)) faults.push('a stop inside a part');
  }
  if (open.size > 0) faults.push('a part stays open');
  return faults;
}

describe('answers', () => {
  test.each(streams())('%s keeps the order of parts, and reads the same in any split', (name) => {
    const bytes = fixture(`${name}.sse`);
    const events = decode(bytes);
    expect(disorder(events)).toEqual([]);
    for (const step of [1, 2, 3, 7, 64, 1_000]) expect(decode(bytes, step)).toEqual(events);
    expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1);
  });

  test.each(['text', 'thinking', 'tools', 'grounding'])('%s says whole what it says streamed', (name) => {
    const whole = gemini.decode(fixture(`${name}.json`), searching, target());
    expect(whole).toEqual(read(name, searching).answer);
  });

  test('text, the model that spoke and the last counts are read', () => {
    const { answer, fault } = read('text');
    expect(fault).toBeNull();
    expect(answer).toMatchObject({
      upstream_model: 'gemini-3-flash-preview',
      upstream_id: 'vQRpaqzAPN2M9MoPxPq2uQ4',
      service_tier: 'standard',
      candidates: [
        { content: [{ type: 'text', text: 'Grüße, Welt 🌍!' }], stop: { reason: 'end_turn', raw: 'STOP' } },
      ],
      usage: { input_tokens: 9, output_tokens: 6, source: 'provider' },
    });
  });

  test('thoughts are reasoning; the signature of a text follows it', () => {
    expect(parts('thinking')).toEqual([
      { type: 'reasoning', text: '**Adding**\nTwo and two.', kind: 'full', format: 'google-gemini-v1' },
      { type: 'text', text: '4' },
      expect.objectContaining({ type: 'reasoning', text: '', signature: expect.stringMatching(/^EpcC/) }),
    ]);
    expect(read('thinking').answer.usage).toMatchObject({ output_tokens: 53, reasoning_tokens: 52 });
  });

  test('calls come whole, with every digit of their arguments, and the first with its signature', () => {
    const [first, second, third] = parts('tools');
    expect(first).toMatchObject({ type: 'tool_call', id: '', name: 'weather', format: 'google-gemini-v1' });
    expect(first).toMatchObject({ arguments: '{"city":"Köln","id":12345678901234567890}' });
    expect(second).toEqual({
      ...{ type: 'tool_call', id: '', name: 'weather', arguments: '{"city":"Pune"}', kind: 'function' },
    });
    expect(third).toMatchObject({ name: 'now', arguments: '{}' });
    expect(read('tools').answer.candidates[0]?.stop).toEqual({ reason: 'tool_use', raw: 'STOP' });
  });

  test("a call's own id is kept, and text before it is a part of its own", () => {
    expect(parts('tool-id')).toMatchObject([{ text: 'Let me look. ' }, { type: 'tool_call', id: 'fc-7' }]);
  });

  test('an emulated custom tool gets its free text back', () => {
    const tools: CanonicalRequest['tools'] = [{ kind: 'custom', name: 'weather' }];
    const sent = fixture('tool-id.sse').toString().replace('{"city":"Bonn"}', '{"input":"Bonn"}');
    const { answer } = foldEvents(decode(Buffer.from(sent), undefined, asked({ tools })));
    expect(answer.candidates[0]?.content[1]).toMatchObject({ kind: 'custom', arguments: 'Bonn' });
  });

  test('sources are cited with offsets in UTF-16 units', () => {
    const [part] = parts('grounding', searching);
    const text = part?.type === 'text' ? part.text : '';
    const citations = part?.type === 'text' ? (part.citations ?? []) : [];
    const cited = citations.map((citation) =>
      citation.kind === 'url' ? [citation.url, text.slice(citation.start, citation.end)] : null,
    );
    expect(cited).toEqual([
      ['https://a.example/1', 'Zürich ist schön.'],
      ['https://a.example/1', 'Es regnet.'],
      ['https://b.example/2', 'Es regnet.'],
    ]);
  });

  test('where the text was not kept, sources of it are cited without a place', () => {
    const [part] = parts('grounding');
    expect(part?.type === 'text' && part.citations).toHaveLength(3);
    expect(JSON.stringify(part)).not.toContain('"start"');
    // ASCII needs no text: bytes are units.
    expect(parts('recitation')).toMatchObject([
      { citations: [{ url: 'https://c.example/moby', start: 0, end: 16 }] },
    ]);
  });

  test('bytes are counted to whole characters', () => {
    expect([0, 1, 2, 3, 4, 7, 8, 99].map((bytes) => utf16At('aé🌍z', bytes))).toEqual([
      0, 1, 1, 2, 2, 4, 5, 5,
    ]);
  });

  test('usage splits the prompt into cached and not, and knows modalities', () => {
    expect(read('cached').answer.usage).toEqual({
      ...{ input_tokens: 660, cache_read_tokens: 9_000, cache_write_tokens: 0, output_tokens: 7 },
      ...{ reasoning_tokens: 0, image_input_tokens: 258, source: 'provider' },
    });
    expect(read('cached-too-much').answer.usage).toMatchObject({
      ...{ input_tokens: 0, cache_read_tokens: 10, inconsistent: true },
    });
    expect(read('grounding').answer.usage).toMatchObject({
      ...{ input_tokens: 325, tool_prompt_tokens: 308, output_tokens: 370 },
    });
    expect(read('image').answer.usage).toMatchObject({ output_tokens: 1_292, image_output_tokens: 1_290 });
    expect(readUsage({ promptTokenCount: 10, totalTokenCount: 25, thoughtsTokenCount: 5 })).toMatchObject({
      ...{ output_tokens: 15, reasoning_tokens: 5 },
    });
    expect(readUsage({ promptTokenCount: 10, candidatesTokenCount: -1 })).toBeNull();
    expect(readUsage({ candidatesTokenCount: 3 })).toBeNull();
    expect(read('no-usage').answer.usage).toBeNull();
  });

  test('the first chunk tells of the input, so that a left call is not billed by guess', () => {
    expect(decode(fixture('text.sse'))[0]).toMatchObject({ type: 'start', usage: { input_tokens: 9 } });
  });

  test.each([
    ['safety', 'content_filter', 'SAFETY'],
    ['recitation', 'content_filter', 'RECITATION'],
    ['max-tokens', 'max_tokens', 'MAX_TOKENS'],
    ['malformed-call', 'malformed', 'MALFORMED_FUNCTION_CALL'],
    ['unknown-finish', 'end_turn', 'SOMETHING_NEW'],
  ])('%s ends with %s', (name, reason, raw) => {
    expect(read(name).answer.candidates[0]?.stop).toMatchObject({ reason, raw });
    expect(read(name).fault).toBeNull();
  });

  test('candidates that take turns are put together each', () => {
    const { candidates } = read('candidates').answer;
    expect(candidates.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'one two' }],
      [{ type: 'text', text: 'eins zwei' }],
    ]);
  });

  test('a finish on every chunk, LF and data without a blank lose nothing', () => {
    const { answer } = read('finish-everywhere');
    expect(answer.candidates[0]?.content).toMatchObject([{ text: 'a' }, { text: 'b' }]);
    expect(answer.usage?.output_tokens).toBe(2);
  });

  test('chunks without candidates and unknown members pass; unknown parts stay for their own family', () => {
    expect(parts('odd')).toMatchObject([
      { type: 'text', text: 'x' },
      { type: 'server_tool', family: 'gemini', name: 'executableCode' },
      { type: 'server_tool', family: 'gemini', name: 'codeExecutionResult' },
      { type: 'server_tool', family: 'gemini', payload: { brandNew: { deep: [1] } } },
      { type: 'text', text: 'y' },
    ]);
  });

  test('a generated image is a part, its drafts are not', () => {
    expect(parts('image')).toMatchObject([
      { type: 'text', text: 'Here: ' },
      { type: 'image', src: { base64: 'iVBORw0KGgo=', media_type: 'image/png' } },
      { type: 'reasoning', text: '' },
    ]);
    expect(parts('audio')).toMatchObject([{ type: 'audio', src: { base64: 'AAAA' } }]);
  });

  test('sound is content from its first chunk on: a long one is not taken for silence and asked for again', () => {
    const chunk =
      '{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16","data":"AAAA"}}]}}]}';
    const tracker = new EventTracker();
    for (const event of decode(Buffer.from(`data: ${chunk}\n\n`))) {
      if (event.type !== 'error') tracker.see(event);
    }
    expect(tracker.state.semantic).toBe(true);
  });

  test('log probabilities stand with their text', () => {
    const [part] = parts('logprobs');
    expect(part?.type === 'text' && part.logprobs).toMatchObject([
      {
        token: 'Hi',
        logprob: -0.012345678901234568,
        top: [{ token: 'Hi' }, { token: 'Hé', bytes: [72, 195, 169] }],
      },
      { token: '!', logprob: 0, top: [] },
    ]);
  });
});

describe('faults', () => {
  test.each([
    ['blocked', { class: 'content_filter', code: 'PROHIBITED_CONTENT' }],
    ['error-first', { class: 'stream', inner: 'overloaded' }],
    ['error-mid', { class: 'stream', inner: 'overloaded', type: 'UNAVAILABLE' }],
    ['unspecified', { class: 'stream', inner: 'server' }],
    ['cut', { class: 'truncated' }],
    ['cut-in-event', { class: 'truncated' }],
    ['empty', { class: 'truncated' }],
  ])('%s is told as what it is', (name, fault) => {
    expect(read(name).fault).toMatchObject(fault);
  });

  test('what a blocked prompt counted is kept', () => {
    expect(read('blocked').answer.usage).toMatchObject({ input_tokens: 9, output_tokens: 0 });
  });

  test('a last event without its blank line counts when it is whole', () => {
    expect(read('no-last-blank')).toMatchObject({ fault: null, answer: { usage: { output_tokens: 1 } } });
  });

  test('bytes that are no JSON are a fault of the protocol, and nothing after them counts', () => {
    const events = decode(Buffer.from('data: {"oops\n\ndata: {"candidates":[]}\n\n'));
    expect(events).toMatchObject([{ type: 'error', fault: { class: 'protocol' } }]);
  });

  const refusals = JSON.parse(fixture('errors.json').toString()) as Record<
    string,
    { status: number; body: unknown; class: string; inner?: string; retry_after_ms?: number }
  >;
  test.each(Object.entries(refusals))('refusal %s', (_name, { status, body, ...expected }) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    expect(gemini.classify(status, {}, bytes)).toMatchObject(expected);
  });

  test("the header's wait goes before the body's", () => {
    const { status, body } = refusals['minute'] as { status: number; body: unknown };
    const bytes = Buffer.from(JSON.stringify(body));
    expect(gemini.classify(status, { 'retry-after': '2' }, bytes).retry_after_ms).toBe(2_000);
  });

  test('a whole answer that is an error, a block or something else is refused', () => {
    const whole = (value: unknown) => () =>
      gemini.decode(Buffer.from(JSON.stringify(value)), asked(), target());
    expect(whole({ error: { code: 503, message: 'x', status: 'UNAVAILABLE' } })).toThrow('x');
    expect(whole({ promptFeedback: { blockReason: 'SAFETY' } })).toThrow('blocked the prompt (SAFETY)');
    expect(whole([])).toThrow('not an object');
    expect(whole({})).toThrow('no candidates');
    expect(() => gemini.decode(Buffer.from('<html>'), asked(), target())).toThrow('not JSON');
  });
});
