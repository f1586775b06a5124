import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, ServiceError } from '../../kernel/index.ts';
import { familyOfFile, storedFile } from '../call/admit/account-state.ts';
import { foldEvents, unfoldAnswer } from '../canonical/assemble.ts';
import { extLosses } from '../canonical/ext-losses.ts';
import {
  budgetToEffort,
  effortToBudget,
  type ForeignState,
  fitToolCallId,
  isWrapped,
  unwrapState,
  wrapState,
} from '../canonical/reasoning.ts';
import type { CanonicalAnswer, CanonicalRequest, Message, Part } from '../canonical/types.ts';
import { messagesError } from '../formats/anthropic-messages/caller/error.ts';
import { messagesDialect } from '../formats/anthropic-messages/caller/index.ts';
import { chat } from '../formats/openai-chat/caller/index.ts';
import { parseExact } from '../wire/exact.ts';
import { chatError } from './error.ts';
import { stringMap } from './read.ts';
import { readSvc, shownWarnings } from './svc.ts';
import { orderToolResults } from './tool-results.ts';

function refusal(run: () => unknown): { code: string; param: string | null } {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('not refused');
}

describe('svc', () => {
  it('refuses a misspelt key, so that no privacy preference is ignored', () => {
    expect(refusal(() => readSvc({ svc: { data_polcy: 'zdr' } }, {}))).toEqual({
      code: 'invalid_request',
      param: 'svc.data_polcy',
    });
    expect(refusal(() => readSvc({ svc: { route: { requir: {} } } }, {})).param).toBe('svc.route.requir');
    expect(refusal(() => readSvc({ svc: { route: { require: { zrd: true } } } }, {})).param).toBe(
      'svc.route.require.zrd',
    );
    expect(refusal(() => readSvc({}, { 'x-svc-route': '{"srt":"price"}' })).param).toBe('x-svc-route.srt');
  });

  it('lets the body win over the headers key by key', () => {
    const headers = {
      'x-svc-route': '{"sort":"price","max_attempts":2}',
      'x-svc-metadata': '{"a":"h","b":"h","c":"h"}',
      'x-svc-compat': 'drop',
      'x-svc-app': 'head',
      'x-svc-session': 's1',
    };
    const svc = { route: { sort: 'latency' }, metadata: { a: 'svc' }, compat: 'strict', app: 'body' };
    expect(readSvc({ svc }, headers, { a: 'own', b: 'own' })).toEqual({
      route: { sort: 'latency', max_attempts: 2 },
      metadata: { a: 'svc', b: 'own', c: 'h' },
      compat: 'strict',
      provider_options: {},
      reasoning: 'include',
      app: 'body',
      session: 's1',
    });
  });

  it('takes the headers that clients send anyway where ours are absent', () => {
    const headers = { 'x-title': 'My Great App!', 'x-claude-code-session-id': 'cc' };
    expect(readSvc({}, headers)).toMatchObject({ app: 'my-great-app', session: 'cc' });
  });

  it('keeps both of two different data policies', () => {
    const route = readSvc({ svc: { data_policy: 'no_train', route: { data_policy: 'zdr' } } }, {}).route;
    expect(route).toEqual({ data_policy: 'no_train', require: { zdr: true } });
  });

  it('keeps each privacy preference of the header beside those of the body, and the stricter of two', () => {
    const of = (head: object, route: object, more: object = {}) =>
      readSvc({ svc: { route, ...more } }, { 'x-svc-route': JSON.stringify(head) }).route;
    expect(of({ require: { zdr: true, no_train: true } }, { require: { max_price: { input: 1 } } })).toEqual({
      require: { zdr: true, no_train: true, max_price: { input: 1 } },
    });
    expect(of({ require: { zdr: true } }, { require: { zdr: false } })).toEqual({ require: { zdr: true } });
    expect(of({ require: { no_train: false } }, { require: {} })).toEqual({ require: {} });
    expect(of({ require: { max_retention_days: 7 } }, { require: { max_retention_days: 30 } })).toEqual({
      require: { max_retention_days: 7 },
    });
    expect(of({ require: { max_retention_days: 7 } }, { require: { max_retention_days: 0 } })).toEqual({
      require: { max_retention_days: 0 },
    });
    const regions = (head: string[], body: string[]) =>
      of({ require: { regions: head } }, { require: { regions: body } }).require?.regions;
    expect(regions(['eu', 'us'], ['us', 'in'])).toEqual(['us']);
    expect(regions(['eu'], ['eu-west', 'europe', 'us'])).toEqual(['eu-west']);
    expect(regions(['eu-west'], ['eu'])).toEqual(['eu-west']);
    // No region is in both: no endpoint may be tried, and not every one.
    expect(regions(['eu'], ['us'])).toEqual([]);
    expect(of({ require: { regions: ['eu'] } }, { require: { zdr: true } }).require?.regions).toEqual(['eu']);
    expect(of({ data_policy: 'zdr' }, { data_policy: 'no_train' })).toEqual({
      data_policy: 'no_train',
      require: { zdr: true },
    });
    expect(of({ data_policy: 'zdr' }, { require: { no_train: true } }, { data_policy: 'no_train' })).toEqual({
      data_policy: 'no_train',
      require: { zdr: true, no_train: true },
    });
    // What is no matter of privacy is the body's, key by key of the route.
    expect(of({ require: { quantizations: ['fp8'], zdr: true } }, { require: { parameters: true } })).toEqual(
      {
        require: { parameters: true, zdr: true },
      },
    );
  });

  it('refuses provider options that would change what was held, priced or isolated', () => {
    for (const options of [
      { model: 'x' },
      { max_tokens: 1 },
      { maxTokens: 1 },
      { n: 5 },
      { stream: true },
      { api_key: 'k' },
      { generationConfig: { maxOutputTokens: 9 } },
      { generationConfig: { candidateCount: 4 } },
      { service_tier: 'priority' },
    ]) {
      expect(refusal(() => readSvc({ svc: { provider_options: { acme: options } } }, {})).code).toBe(
        'unsupported_parameter',
      );
    }
    const fine = { acme: { top_k: 5, generationConfig: { topK: 3 } } };
    expect(readSvc({ svc: { provider_options: fine } }, {}).provider_options).toEqual(fine);
  });

  it('counts JSON null as absent everywhere', () => {
    expect(readSvc({ svc: null }, {})).toEqual(readSvc({}, {}));
    expect(readSvc({ svc: { route: null, app: null, metadata: { a: null } } }, {})).toEqual(readSvc({}, {}));
  });

  it('refuses metadata beyond its bounds', () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v']));
    expect(refusal(() => readSvc({ svc: { metadata: many } }, {})).param).toBe('svc.metadata');
    expect(refusal(() => readSvc({ svc: { metadata: { a: 'x'.repeat(513) } } }, {})).param).toBe(
      'svc.metadata.a',
    );
    expect(stringMap({ __proto__x: 'a' }, 'm')).toEqual({ __proto__x: 'a' });
  });

  it('shows at most twenty warnings and how many more there are', () => {
    const warnings = Array.from({ length: 23 }, (_, i) => ({ code: `w${i}`, message: '' }));
    const shown = shownWarnings(warnings);
    expect(shown).toHaveLength(21);
    expect(shown.at(-1)).toEqual({ code: 'more', count: 3 });
  });
});

describe('reasoning state', () => {
  it('survives its envelope', () => {
    const text = fc.string({ unit: 'grapheme' });
    const states = fc.record(
      {
        f: fc.constantFrom('anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1', 'unknown'),
        m: text,
        s: text,
        d: text,
        i: text,
        t: text,
      },
      { requiredKeys: ['f', 'm'] },
    );
    fc.assert(
      fc.property(states, (state) => {
        const wrapped = wrapState(state as ForeignState);
        expect(isWrapped(wrapped)).toBe(true);
        expect(wrapped).toMatch(/^svc1\.[A-Za-z0-9_-]+$/);
        expect(unwrapState(wrapped)).toEqual(state);
      }),
    );
  });

  it('is null for anything that is no envelope of ours', () => {
    for (const text of ['', 'EqQB', 'svc1.', 'svc1.!!!', `svc1.${Buffer.from('[]').toString('base64url')}`]) {
      expect(unwrapState(text)).toBeNull();
    }
  });

  it('turns an effort into a budget and back into the same effort', () => {
    for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh'] as const) {
      expect(budgetToEffort(effortToBudget(effort, 64_000), 64_000)).toBe(effort);
    }
    expect(effortToBudget('high', 1_000)).toBe(1_024);
    expect(effortToBudget('max', 1_000_000)).toBe(128_000);
    expect(effortToBudget('none', 1_000)).toBe(0);
    expect(budgetToEffort(0, 1_000)).toBe('none');
    expect(budgetToEffort(63_000, 64_000)).toBe('max');
  });

  it('keeps a tool-call id that fits and gives one that does not the same stand-in every time', () => {
    expect(fitToolCallId('toolu_01', 'anthropic')).toBe('toolu_01');
    const odd = 'call:1/ü';
    expect(fitToolCallId(odd, 'anthropic')).toMatch(/^[0-9A-Za-z]{40}$/);
    expect(fitToolCallId(odd, 'anthropic')).toBe(fitToolCallId(odd, 'anthropic'));
    expect(fitToolCallId('call_a', 'mistral')).toMatch(/^[0-9A-Za-z]{9}$/);
    expect(fitToolCallId('x'.repeat(65), 'openai')).toHaveLength(40);
    expect(fitToolCallId(odd, 'anthropic')).not.toBe(fitToolCallId(`${odd}!`, 'anthropic'));
  });
});

const text: Part = { type: 'text', text: 'ok' };
const call = (id: string): Part => ({ type: 'tool_call', id, name: 'f', arguments: '{}', kind: 'function' });
const result = (id: string): Part => ({ type: 'tool_result', tool_call_id: id, content: [text] });
const from = (role: Message['role'], ...content: Part[]): Message => ({ role, content });

describe('tool results', () => {
  it('stand directly behind the calls they answer, whatever lay between', () => {
    const ordered = orderToolResults([
      from('user', text),
      from('assistant', call('a'), call('b')),
      from('tool', result('b')),
      from('user', text, result('a')),
    ]);
    expect(ordered).toEqual([
      from('user', text),
      from('assistant', call('a'), call('b')),
      from('tool', result('b')),
      from('tool', result('a')),
      from('user', text),
    ]);
  });

  it('belong to the latest turn that waits when an id is used twice', () => {
    const messages = [
      from('assistant', call('a')),
      from('tool', result('a')),
      from('assistant', call('a')),
      from('tool', result('a')),
    ];
    expect(orderToolResults(messages)).toEqual(messages);
  });

  it('answer as many calls of one turn as have their id', () => {
    const calls = from('assistant', call('a'), call('a'));
    const messages = [calls, from('tool', result('a')), from('tool', result('a'))];
    expect(orderToolResults(messages)).toEqual(messages);
    expect(refusal(() => orderToolResults([calls, from('tool', result('a'))])).param).toBe('messages[0]');
  });

  it('are refused without a call, and calls without them', () => {
    expect(refusal(() => orderToolResults([from('tool', result('x'))])).param).toBe('messages[0]');
    expect(refusal(() => orderToolResults([from('user', text), from('assistant', call('x'))])).param).toBe(
      'messages[1]',
    );
    const twice = [from('assistant', call('x')), from('tool', result('x')), from('tool', result('x'))];
    expect(refusal(() => orderToolResults(twice)).param).toBe('messages[2]');
  });
});

describe('answers and events', () => {
  const parts = fc.array(
    fc.oneof(
      fc.string().map((value): Part => ({ type: 'text', text: value })),
      fc.string({ minLength: 1 }).map((value): Part => ({ type: 'refusal', text: value })),
      fc.tuple(fc.string(), fc.option(fc.string({ minLength: 1 }))).map(([value, signature]): Part => {
        const part: Part = { type: 'reasoning', text: value, kind: 'full', format: 'anthropic-claude-v1' };
        return signature === null ? part : { ...part, signature };
      }),
      fc
        .json()
        .map((json): Part => ({ type: 'tool_call', id: 'c', name: 'f', arguments: json, kind: 'function' })),
      fc.constant<Part>({ type: 'reasoning', text: '', kind: 'encrypted', data: 'xx', format: 'unknown' }),
      fc.constant<Part>({
        ...{ type: 'reasoning', text: 'in short', kind: 'summary', data: 'xx', id: 'rs_1' },
        format: 'openai-responses-v1',
      }),
      fc.constant<Part>({
        type: 'text',
        text: 'cited',
        citations: [{ kind: 'url', url: 'https://e.com', start: 0, end: 5 }],
        logprobs: [{ token: 'cited', logprob: -1, bytes: null, top: [] }],
      }),
    ),
  );

  it('folds a part with numbers beyond a double, and leaves its event as it was', () => {
    const payload = parseExact('{"n":12345678901234567891}') as JsonObject;
    const content: Part = { type: 'server_tool', family: 'gemini', name: 'odd', payload };
    const spoken: Part = { type: 'text', text: '', citations: [] };
    const { answer } = foldEvents([
      { type: 'part_start', candidate: 0, part: 0, content },
      { type: 'part_start', candidate: 0, part: 1, content: spoken },
      {
        type: 'part_delta',
        candidate: 0,
        part: 1,
        text: 'x',
        citation: { kind: 'url', url: 'https://e.com' },
      },
    ]);
    expect(JSON.stringify(answer.candidates[0]?.content[0])).toContain('{"n":12345678901234567891}');
    expect(spoken).toEqual({ type: 'text', text: '', citations: [] });
  });

  it('an answer unfolded into events folds back into itself', () => {
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 3 }), (contents) => {
        const answer: CanonicalAnswer = {
          candidates: contents.map((content, index) => ({ index, content, stop: { reason: 'end_turn' } })),
          usage: null,
          upstream_model: 'm',
        };
        expect(foldEvents(unfoldAnswer(answer))).toEqual({ answer, fault: null });
      }),
    );
  });
});

describe('errors', () => {
  const place = { request_id: 'R', base_url: 'https://llm.example' };
  const error = new ServiceError('upstream_overloaded', 'Full.', {
    param: 'p',
    details: { a: 1 },
    beside: { b: 2 },
  });

  it('carry code, type and param where each client looks for them', () => {
    expect(chatError(error, place)).toEqual({
      error: {
        message: 'Full.',
        type: 'overloaded_error',
        code: 'upstream_overloaded',
        param: 'p',
        request_id: 'R',
        details: { a: 1 },
        b: 2,
        doc_url: 'https://llm.example/docs/errors#upstream_overloaded',
      },
    });
    expect(messagesError(error, place)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', details: { error_code: 'upstream_overloaded', a: 1 } },
      request_id: 'R',
    });
    expect(messagesError({ code: 'upstream_timeout', message: 'm' }, place)).toMatchObject({
      error: { type: 'timeout_error', details: { error_code: 'upstream_timeout' } },
    });
  });

  it('are 529 for a full queue on the messages routes only', () => {
    expect(messagesDialect.status(error)).toBe(529);
    expect(chat.status(error)).toBe(503);
  });
});

describe('unknown members', () => {
  it('are losses of the class that their dialect gives them', () => {
    const ext = { prediction: {}, web_search_options: {}, moderation: {}, zzz: 1, constructor: 1 };
    const losses = extLosses({ dialect: 'chat', ext } as never).map(({ class: kind, code }) => [kind, code]);
    expect(losses).toEqual([
      ['hint', 'prediction_dropped'],
      ['content', 'unsupported_parameter'],
      ['behaviour', 'unknown_parameter_dropped'],
      ['behaviour', 'unknown_parameter_dropped'],
    ]);
  });
});

describe('files stored at a provider', () => {
  it('are found wherever they stand, so that no pool account is asked for them', () => {
    const file: Part = { type: 'document', src: { file_id: 'f', family: 'openai_chat' } };
    const deep: Part = { type: 'tool_result', tool_call_id: 'a', content: [text, file] };
    const of = (...messages: Message[]): string | null => storedFile({ messages } as never);
    expect(of(from('user', text))).toBeNull();
    expect(of(from('user', text, file))).toBe('messages[0].content[1]');
    expect(of(from('user', text), from('tool', deep))).toBe('messages[1].content[0].content[1]');
  });

  it('are found in blocks that only their family reads, but for what its tools told of their own files', () => {
    const block = (name: string, payload: unknown): CanonicalRequest =>
      ({
        messages: [from('user', text, { type: 'server_tool', family: 'openai_responses', name, payload })],
      }) as never;
    const shot = block('computer_call_output', {
      output: { type: 'computer_screenshot', file_id: 'file-1' },
    });
    expect([storedFile(shot), familyOfFile(shot)]).toEqual(['messages[0].content[1]', 'openai_responses']);
    expect(storedFile(block('input_video', { file_id: 'file-1' }))).toBe('messages[0].content[1]');
    expect(storedFile(block('computer_call_output', { output: { image_url: 'data:' } }))).toBeNull();
    expect(storedFile(block('file_search_call', { results: [{ file_id: 'file-1' }] }))).toBeNull();
    let deep: unknown = {};
    for (let i = 0; i < 5_000; i++) deep = [deep];
    expect(storedFile(block('input_video', deep))).toBe('messages[0].content[1]');
  });
});
