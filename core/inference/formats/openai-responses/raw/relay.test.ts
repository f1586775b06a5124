import { chatEnd, chatMeta, runRelay, splitAt } from '@svc/test/grammar/chat-fixtures.ts';
import {
  responsesFixtures,
  responsesRequest,
  responsesTarget,
} from '@svc/test/grammar/openai-responses-fixtures.ts';
import { checkResponsesStream } from '@svc/test/grammar/responses.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../kernel/index.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import type { Relay } from '../../../canonical/contract.ts';
import type { ReplyMeta } from '../../../canonical/types.ts';
import { repeated } from '../caller/echo.ts';
import { openaiResponses } from '../upstream/index.ts';
import { rawResponses } from './index.ts';

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
type Wire = any;

const fixtures = responsesFixtures();
const fixture = (name: string): Buffer => fixtures.find((one) => one.name === name)!.sse;
/** Fixtures of an official server: every event of an item has its place, and the response is created first. */
const regular = fixtures.filter(({ name, meta }) => {
  const odd = ['no-created', 'no-indexes', 'no-added', 'no-item-done', 'terminal-only'];
  return !odd.includes(name) && (meta.expected as Wire).fault === null;
});

function meta(change: Partial<ReplyMeta> = {}, sealed = false, body: JsonObject = {}): ReplyMeta {
  const members = JSON.stringify(repeated(body)).slice(1, -1);
  return chatMeta({ echo: { members, encrypted_reasoning: sealed }, ...change });
}

function relay(how: ReplyMeta = meta(), flags: readonly string[] = []): Relay {
  return rawResponses.relay(how, responsesRequest(), responsesTarget({ flags }));
}

function events(text: string): Wire[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.includes('data: '))
    .map((frame) => {
      const [name, data] = frame.split('\n') as [string, string];
      const value = JSON.parse(data.slice('data: '.length));
      expect(name).toBe(`event: ${value.type}`);
      return value;
    });
}

/** What an event says once our own members are away. */
function bare(event: Wire): Wire {
  if (event.response === undefined) return event;
  const { id: _i, model: _m, svc: _s, store: _t, ...response } = event.response;
  return { ...event, response };
}

describe('raw stream of responses', () => {
  const created =
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r","output":[]}}\n\n';
  const added = (n: number): string =>
    `event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":${n + 1},"output_index":${n},"item":{"id":"m${n}","type":"message","content":[]}}\n\n`;

  it('ends a stream that opens items without end, instead of remembering them all', () => {
    const one = relay();
    one.push(Buffer.from(created));
    for (let n = 0; n < 5_000 && one.state.fault === null; n++) one.push(Buffer.from(added(n)));
    expect(one.state.fault).toMatchObject({ class: 'protocol' });
  });

  it('reads on behind line ends that belong to no event', () => {
    const sse = fixture('text').toString().replaceAll('\r\n', '\n').trimEnd();
    const expected = runRelay(relay(), [Buffer.from(`${sse}\n\n`)]);
    for (const ending of ['', '\n', '\n\n\n', '\n\n\n\n\n']) {
      expect(runRelay(relay(), [Buffer.from(sse + ending)])).toBe(expected);
    }
    const loose = sse.replaceAll('\n\n', '\n\n\n');
    expect(runRelay(relay(), [Buffer.from(loose)])).toContain('event: response.completed');
    const cut = relay();
    cut.push(Buffer.from(`${created}${added(0)}${added(1).trimEnd()}\n`));
    cut.close();
    expect(cut.state.fault).toMatchObject({ class: 'truncated' });
  });

  it('can still be cut in order when a delta held what is no JSON', () => {
    const one = relay();
    const delta = (n: number, text: string): string =>
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${n},"item_id":"m0","output_index":0,"content_index":0,"delta":"${text}"}\n\n`;
    one.push(Buffer.from(created + added(0) + delta(2, 'a') + delta(3, 'b')));
    one.push(Buffer.from(delta(4, 'c\\x')));
    const end = one.end(chatEnd(null, { stop: { reason: 'max_tokens' } })).toString();
    expect(end).toContain('event: response.incomplete');
  });

  it('copies every event but those that carry the response', () => {
    for (const { sse, name } of regular.filter(
      ({ name }) => !name.startsWith('reasoning') && name !== 'tool',
    )) {
      const out = runRelay(relay(), [Buffer.from(sse)]);
      const theirs = sse
        .toString()
        .replaceAll('\r\n', '\n')
        .split('\n\n')
        .map((frame) => /^data: ?(.*)$/m.exec(frame)?.[1] ?? '')
        .filter((data) => data.startsWith('{'))
        .map((data) => JSON.parse(data));
      const ours = events(out);
      expect(ours.map(bare), name).toEqual(theirs.map((event: Wire) => withUsage(bare(event), ours)));
      expect(ours.at(-1).response).toMatchObject({
        id: '01JD0000000000000000000000',
        model: 'acme/fast-1',
        store: false,
        svc: { cost: { total_micro_usd: 123 } },
      });
      expect(ours[0].response).toMatchObject({ id: '01JD0000000000000000000000', model: 'acme/fast-1' });
    }
  });

  // Where the provider reported no usage, the last event has ours.
  function withUsage(event: Wire, ours: Wire[]): Wire {
    if (!event.type.startsWith('response.') || event.response?.usage !== null) return event;
    if (event.type !== ours.at(-1).type) return event;
    return { ...event, response: { ...event.response, usage: ours.at(-1).response.usage } };
  }

  it('gives an event that does not name the place of its item the place that it has', () => {
    // Items that arrive interleaved need their indexes, and in unknown events we do not know where those are.
    const others = ['tools-interleaved', 'unknown'];
    for (const { name, sse, flags } of regular.filter(({ name }) => !others.includes(name))) {
      const without = sse.toString().replaceAll(/"output_index": ?\d+, ?|, ?"output_index": ?\d+/g, '');
      expect(without, name).not.toContain('output_index');
      for (const how of [meta(), meta({ reasoning: 'exclude' })]) {
        const [whole, odd] = [relay(how, flags), relay(how, flags)];
        const expected = events(runRelay(whole, [Buffer.from(sse)]));
        expect(events(runRelay(odd, [Buffer.from(without)])), name).toEqual(expected);
        expect(odd.state, name).toEqual(whole.state);
      }
    }
    const one = relay();
    const delta = '{"type":"response.output_text.delta","sequence_number":2,"delta":"a word"}';
    one.push(Buffer.from(`${created}${added(0)}event: response.output_text.delta\ndata: ${delta}\n\n`));
    expect(one.state).toMatchObject({ semantic: true, output_bytes: 6 });
  });

  it('adds no fault to the grammar of what the provider sends', () => {
    for (const { name, sse } of regular.filter(({ name }) => name !== 'tools-interleaved')) {
      for (const exclude of [false, true]) {
        const how = meta({ reasoning: exclude ? 'exclude' : 'include' }, name !== 'tool');
        expect(newFaults(runRelay(relay(how), [Buffer.from(sse)]), sse), name).toEqual([]);
      }
    }
    for (const name of ['text', 'reasoning', 'custom-tool', 'refusal']) {
      expect(
        checkResponsesStream(runRelay(relay(meta({}, true)), [Buffer.from(fixture(name))])),
        name,
      ).toEqual([]);
    }
    for (const name of ['failed', 'error-event', 'cut']) {
      expect(checkResponsesStream(runRelay(relay(), [Buffer.from(fixture(name))])), name).toEqual([]);
    }
  });

  function newFaults(ours: string, theirs: Buffer): string[] {
    const known = checkResponsesStream(theirs.toString().replaceAll('\r\n', '\n'));
    return checkResponsesStream(ours).filter((fault) => !known.includes(fault));
  }

  it('leaves the bytes of deltas, unknown events and numbers beyond 2^53 as they are', () => {
    const out = runRelay(relay(), [Buffer.from(fixture('unknown'))]);
    expect(out).toContain('"big":9007199254740993');
    expect(out).toContain('event: response.novel.thing\ndata: {"type":"response.novel.thing"');
    expect(out).toContain('"novel":{"x":1}');
    const args = runRelay(relay(), [Buffer.from(fixture('arguments-at-end'))]);
    expect(args).toContain('\\"id\\":9007199254740993');
  });

  it('gives the same bytes and the same state for any split', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fixtures),
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.boolean(),
        ({ sse }, cuts, exclude) => {
          const how = meta({ reasoning: exclude ? 'exclude' : 'include' });
          const [one, many] = [relay(how), relay(how)];
          const whole = runRelay(one, [Buffer.from(sse)]);
          const split = runRelay(many, splitAt(sse, cuts));
          const timeless = (text: string) => text.replaceAll(/"completed_at":\d+/g, '"completed_at":0');
          expect(timeless(split)).toBe(timeless(whole));
          expect(many.state).toEqual(one.state);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('shows reasoning state only to those who asked for it', () => {
    for (const name of ['reasoning', 'reasoning-sealed', 'tool']) {
      expect(runRelay(relay(), [Buffer.from(fixture(name))])).not.toContain('encrypted_content');
      const sealed = events(runRelay(relay(meta({}, true)), [Buffer.from(fixture(name))]));
      expect(sealed.at(-1).response.output[0].encrypted_content).toBe('gAAAAABo8KGzq');
      expect(sealed.filter(({ item }) => item?.encrypted_content === 'gAAAAABo8KGzq')).toHaveLength(1);
    }
  });

  it('leaves reasoning out for those who exclude it, with numbers and places without gaps', () => {
    const out = runRelay(relay(meta({ reasoning: 'exclude' }, true)), [Buffer.from(fixture('reasoning'))]);
    const reported = events(out);
    expect(out).not.toContain('reasoning_summary');
    expect(reported.map(({ sequence_number }) => sequence_number)).toEqual(reported.map((_, i) => i));
    expect(reported.filter(({ item }) => item).map((event) => [event.output_index, event.item.type])).toEqual(
      [
        [0, 'message'],
        [0, 'message'],
      ],
    );
    expect(reported.at(-1).response.output.map(({ type }: Wire) => type)).toEqual(['message']);
  });

  it('says what the caller sent where only a hash went up', () => {
    const hashed = fixture('text')
      .toString()
      .replaceAll('"safety_identifier":null', '"safety_identifier":"hash"')
      .replaceAll('"prompt_cache_key":null', '"prompt_cache_key":"hash"');
    const members = { safety_identifier: 'me', prompt_cache_key: 'k', metadata: { a: 'b' }, user: null };
    const out = events(runRelay(relay(meta({}, false, members)), [Buffer.from(hashed)]));
    for (const { response } of out.filter((event) => event.response)) {
      expect(response).toMatchObject({
        safety_identifier: 'me',
        prompt_cache_key: 'k',
        metadata: { a: 'b' },
      });
    }
  });

  it('ends what is open when a limit of ours cuts the answer', () => {
    const stop = { reason: 'max_tokens' } as const;
    for (const { name, sse } of regular) {
      const cut = sse.subarray(0, sse.lastIndexOf('event:'));
      const places = Array.from({ length: 12 }, (_, i) => Math.floor((cut.length * (i + 1)) / 12));
      for (const place of places) {
        const one = relay();
        one.push(Buffer.from(cut.subarray(0, place)));
        const begun = cut.subarray(0, place).includes('"type":"response.output_item.added"');
        if (one.state.fault !== null || !begun || name === 'tools-interleaved') continue;
        const before = relay();
        const head = before.push(Buffer.from(cut.subarray(0, place))).toString();
        const whole = head + before.end(chatEnd(null, { stop })).toString();
        const reported = events(whole);
        const last = reported.at(-1);
        expect(last.type, `${name} ${place}`).toBe('response.incomplete');
        expect(last.response.incomplete_details).toEqual({ reason: 'max_output_tokens' });
        const added = reported.filter(({ type }) => type === 'response.output_item.added').length;
        const done = reported.filter(({ type }) => type === 'response.output_item.done').length;
        expect(done, `${name} ${place}`).toBe(added);
        expect(last.response.output).toHaveLength(done);
        expect(newFaults(whole, sse), `${name} ${place}`).toEqual([]);
      }
    }
  });

  it('repeats the text that was sent when it is cut', () => {
    const text = fixture('text');
    const place = text.indexOf('event:response.output_text.done'.replace(':', ': '));
    const one = relay();
    const head = one.push(Buffer.from(text.subarray(0, place))).toString();
    const reported = events(head + one.end(chatEnd(null, { stop: { reason: 'max_tokens' } })).toString());
    expect(reported.find(({ type }) => type === 'response.output_text.done').text).toBe('Hello Wörld 🌍');
    expect(reported.at(-1).response.output[0]).toMatchObject({
      status: 'incomplete',
      content: [{ type: 'output_text', text: 'Hello Wörld 🌍' }],
    });
  });

  it('fails with the dialect of the response, whatever the provider called it', () => {
    for (const name of ['failed', 'failed-rate', 'error-event', 'error-nested', 'error-object', 'cut']) {
      const out = runRelay(relay(), [Buffer.from(fixture(name))]);
      const last = events(out).at(-1);
      expect(last, name).toMatchObject({
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'server_error' },
          svc: { error: { code: 'upstream_error' } },
        },
      });
      expect(out).not.toContain('org-abc123');
    }
  });

  it('has items and status in the last event although the server sent them only earlier', () => {
    const sse = (type: string, members: JsonObject): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
    const item = {
      ...{ id: 'm0', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
    };
    const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 };
    for (const last of [{ usage }, { usage, output: null }, { usage, output: [], status: 'in_progress' }]) {
      const bytes = Buffer.from(
        sse('response.created', { response: { id: 'r', object: 'response', status: 'in_progress' } }) +
          sse('response.output_item.added', { output_index: 0, item: { ...item, content: [] } }) +
          sse('response.output_item.done', { output_index: 0, item }) +
          sse('response.completed', { response: { id: 'r', ...last } }),
      );
      const reported = events(runRelay(relay(), [bytes]));
      expect(reported[0].response).toMatchObject({ created_at: meta().created, output: [] });
      expect(reported.at(-1).response).toMatchObject({ status: 'completed', output: [item] });
    }
  });

  it('writes the last event itself where the server sends it without a response', () => {
    const sse = fixture('text').toString().replaceAll('\r\n', '\n');
    const body = sse.slice(0, sse.indexOf('event: response.completed'));
    for (const last of ['{"type":"response.completed"}', '{"type":"response.completed","response":null}']) {
      const one = relay();
      const reported = events(
        runRelay(one, [Buffer.from(`${body}event: response.completed\ndata: ${last}\n\n`)]),
      );
      const { response } = reported.at(-1);
      expect(response).toMatchObject({ status: 'completed', output: [{ type: 'message' }] });
      expect(one.state).toMatchObject({ finished: true, usage: null });
    }
  });

  it('can still be cut when the end of a part came without the part', () => {
    const about = '"sequence_number":2,"item_id":"m0","output_index":0,"content_index":0';
    for (const kind of ['message', 'reasoning']) {
      const of = kind === 'message' ? 'output_text' : 'reasoning_text';
      const one = relay();
      const reported = [
        added(0).replace('"type":"message"', `"type":"${kind}"`),
        `event: response.${of}.delta\ndata: {"type":"response.${of}.delta",${about},"delta":"Hi"}\n\n`,
        `event: response.content_part.done\ndata: {"type":"response.content_part.done",${about}}\n\n`,
      ];
      one.push(Buffer.from(created + reported.join('')));
      const cut = events(`${one.end(chatEnd(null, { stop: { reason: 'max_tokens', raw: '' } }))}`);
      expect(cut.at(-1).response.output).toMatchObject([{ content: [{ type: of, text: 'Hi' }] }]);
    }
  });

  it('leaves the place of an event that names none of its own when items are left out', () => {
    const ping = '{"type":"response.ping","sequence_number":1,"output_index":null}';
    const one = relay(meta({ reasoning: 'exclude' }));
    const reported = events(`${one.push(Buffer.from(`${created}event: response.ping\ndata: ${ping}\n\n`))}`);
    expect(reported.at(-1)).toMatchObject({ type: 'response.ping', output_index: null });
  });

  it('refuses events before the response was created', () => {
    const one = relay();
    one.push(Buffer.from(fixture('no-created')));
    expect(one.state.fault?.class).toBe('protocol');
  });

  it('counts the provider out where its figures are not what was metered', () => {
    const sse = Buffer.from(fixture('text'));
    const out = events(runRelay(relay(meta(), ['cached_outside_prompt']), [sse])).at(-1);
    expect(out.response.usage).toMatchObject({ input_tokens: 75, total_tokens: 105 });
    expect(events(runRelay(relay(), [Buffer.from(fixture('no-usage'))])).at(-1).response.usage).toMatchObject(
      {
        input_tokens: 19,
        output_tokens: 10,
      },
    );
  });
});

describe('both lanes of responses', () => {
  it('report the same state of every stream that an official server may give', () => {
    for (const { name, sse, flags } of regular) {
      const raw = relay(meta(), flags);
      runRelay(raw, [Buffer.from(sse)]);
      const decoder = openaiResponses.decoder(responsesRequest(), responsesTarget({ flags }));
      const { answer } = foldEvents([...decoder.push(Buffer.from(sse)), ...decoder.end()]);
      const calls = answer.candidates[0]?.content.filter(({ type }) => type === 'tool_call').length ?? 0;
      expect({ stop: raw.state.stop, usage: raw.state.usage, calls: raw.state.tool_calls }, name).toEqual({
        stop: answer.candidates[0]?.stop ?? null,
        usage: answer.usage,
        calls,
      });
      expect(raw.state.finished).toBe(true);
    }
  });

  it('report the same fault of every stream that breaks', () => {
    for (const { name, sse, meta: reported } of fixtures) {
      const { fault } = reported.expected as Wire;
      if (fault === null) continue;
      const raw = relay();
      runRelay(raw, [Buffer.from(sse)]);
      expect(raw.state.fault, name).toEqual(fault);
    }
  });
});
