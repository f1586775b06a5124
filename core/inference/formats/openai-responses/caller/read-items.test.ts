// `input` of a responses request: what each item becomes, and what is refused with its path.
import { describe, expect, test } from 'vitest';
import { storedFile } from '../../../call/admit/account-state.ts';
import { wrapState } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { responses } from './index.ts';

type Json = Record<string, unknown>;
const base = { model: 'a/b', input: 'Hi' };

function read(change: Json = {}, headers: Record<string, string> = {}): CanonicalRequest {
  return responses.read({ ...base, ...change }, headers);
}

function refusal(change: Json, headers: Record<string, string> = {}): unknown {
  try {
    read(change, headers);
  } catch (error) {
    return error;
  }
  return expect.fail('was accepted');
}

const messagesOf = (...input: unknown[]) => read({ input }).messages;
const user = { role: 'user', content: 'Hi' };
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'f',
  arguments: '{"a":1}',
  status: 'completed',
};
const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' };
const text = (said: string) => ({ type: 'text', text: said });

describe('input', () => {
  test('a string is one user message; null fields count as absent', () => {
    const nulls = [
      'instructions',
      'tools',
      'tool_choice',
      'stream',
      'temperature',
      'reasoning',
      'text',
      'include',
    ];
    const more = [
      'store',
      'background',
      'metadata',
      'max_output_tokens',
      'previous_response_id',
      'conversation',
    ];
    const request = read(
      Object.fromEntries([...nulls, ...more, 'prompt', 'truncation'].map((name) => [name, null])),
    );
    expect(request.messages).toEqual([{ role: 'user', content: [text('Hi')] }]);
    expect(request).toMatchObject({ stream: false, generation: {}, dialect: 'responses', warnings: [] });
    for (const name of ['ext', 'tools', 'reasoning', 'output', 'cache'])
      expect(request).not.toHaveProperty(name);
  });

  test('instructions are the first system message, before those of the input', () => {
    const { messages } = read({
      instructions: 'I',
      input: [{ role: 'developer', content: 'D' }, { type: 'message', role: 'system', content: 'S' }, user],
    });
    expect(messages).toEqual([
      { role: 'system', content: [text('I')] },
      { role: 'system', content: [text('D')], ext: { role: 'developer' } },
      { role: 'system', content: [text('S')] },
      { role: 'user', content: [text('Hi')] },
    ]);
  });

  test('images, files and audio keep source, detail, name and breakpoint', () => {
    const [message] = messagesOf({
      role: 'user',
      content: [
        { type: 'input_text', text: 'look', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_image', image_url: 'https://x.example/a.png', detail: 'high' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
        { type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
        { type: 'input_file', file_url: 'https://x.example/a.pdf' },
        { type: 'input_file', file_data: 'JVBE' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    });
    expect(message?.content).toEqual([
      { ...text('look'), cache: {} },
      { type: 'image', src: { url: 'https://x.example/a.png' }, detail: 'high' },
      { type: 'image', src: { base64: 'AAAA', media_type: 'image/png' } },
      { type: 'document', src: { base64: 'JVBE', media_type: 'application/pdf' }, name: 'a.pdf' },
      { type: 'document', src: { url: 'https://x.example/a.pdf' } },
      { type: 'document', src: { base64: 'JVBE', media_type: 'application/pdf' } },
      { type: 'audio', src: { base64: 'AAAA', media_type: 'audio/wav' }, format: 'wav' },
    ]);
  });

  test.each(['input_image', 'input_file'])('a stored file in %s is known as one', (type) => {
    const request = read({ input: [{ role: 'user', content: [{ type, file_id: 'file_1' }] }] });
    expect(storedFile(request)).toBe('messages[0].content[0]');
  });

  test('the items of one turn of the model are one assistant message, in order', () => {
    expect(
      messagesOf(
        user,
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        {
          ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
          content: [
            { type: 'output_text', text: 'calling', annotations: [], logprobs: [] },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        call,
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c2', name: 'g', input: 'free' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
        result,
        { role: 'user', content: 'go on' },
      ),
    ).toEqual([
      { role: 'user', content: [text('Hi')] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', kind: 'summary', format: 'unknown' },
          text('calling'),
          { type: 'refusal', text: 'no' },
          { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}', kind: 'function' },
          { type: 'tool_call', id: 'c2', name: 'g', arguments: 'free', kind: 'custom' },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: 'c2', name: 'g', content: [text('two')] }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: 'c1', name: 'f', content: [text('ok')] }],
      },
      { role: 'user', content: [text('go on')] },
    ]);
  });

  test('two messages of the model stay two, and keep their phases and web citations', () => {
    const said = (phase: string, more: Json = {}) => ({
      ...{ type: 'message', role: 'assistant', phase },
      content: [{ type: 'output_text', text: phase, ...more }],
    });
    const note = {
      type: 'url_citation',
      url: 'https://x.example/',
      title: 'X',
      start_index: 0,
      end_index: 3,
    };
    const messages = messagesOf(
      user,
      said('commentary'),
      said('final_answer', { annotations: [note] }),
      user,
    );
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant', 'user']);
    expect(messages[1]?.content[0]).toEqual({ ...text('commentary'), ext: { phase: 'commentary' } });
    expect(messages[2]?.content[0]).toMatchObject({
      citations: [{ kind: 'url', url: 'https://x.example/', title: 'X', start: 0, end: 3 }],
    });
  });

  test('phases with a call between them are two messages', () => {
    const said = (phase: string) => ({ role: 'assistant', phase, content: phase });
    const messages = messagesOf(user, said('commentary'), call, said('final_answer'), result);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });

  test('items and parts of other kinds are kept for their own family', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
    const shot = { type: 'computer_call_output', call_id: 'cc', output: {} };
    const messages = messagesOf(user, search, shot, { role: 'user', content: [{ type: 'new_part', x: 1 }] });
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'server_tool', family: 'openai_responses', name: 'web_search_call', payload: search },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'server_tool', family: 'openai_responses', name: 'computer_call_output', payload: shot },
        ],
      },
      {
        role: 'user',
        content: [
          {
            ...{ type: 'server_tool', family: 'openai_responses', name: 'new_part' },
            payload: { type: 'new_part', x: 1 },
          },
        ],
      },
    ]);
  });

  test('members without a name here are kept where they stood', () => {
    const [message, answer, turn] = messagesOf(
      { ...user, zzz: 1 },
      { role: 'assistant', content: [{ type: 'output_text', text: 'x', yyy: 2 }] },
      { ...call, caller: 'n' },
      { ...result, xxx: 3 },
    );
    expect(message?.ext).toEqual({ zzz: 1 });
    expect(answer?.content[0]?.ext).toEqual({ yyy: 2 });
    expect(answer?.content[1]?.ext).toEqual({ caller: 'n' });
    expect(turn?.content[0]?.ext).toEqual({ xxx: 3 });
  });

  test('numbers beyond 2^53 keep their digits', () => {
    const body =
      '{"model":"a/b","input":"x","tools":[{"type":"function","name":"f","parameters":{"const":9007199254740993}}]}';
    const request = responses.read(parseExact(body), {});
    expect(JSON.stringify(request.tools)).toContain('9007199254740993');
    expect(JSON.stringify(request.echo?.members)).toContain('9007199254740993');
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'input'],
    ['an empty list', [], 'input'],
    ['a number', 5, 'input'],
    ['an item that is no object', ['x'], 'input[0]'],
    ['an item without type and role', [{ content: 'x' }], 'input[0].type'],
    ['a role of no kind', [{ role: 'tool', content: 'x' }], 'input[0].role'],
    ['a message without content', [{ role: 'user' }], 'input[0].content'],
    ['a part without type', [{ role: 'user', content: [{}] }], 'input[0].content[0].type'],
    [
      'a text that is none',
      [{ role: 'user', content: [{ type: 'input_text', text: 1 }] }],
      'input[0].content[0].text',
    ],
    [
      'a local file',
      [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///etc' }] }],
      'input[0].content[0].image_url',
    ],
    ['a file without source', [{ role: 'user', content: [{ type: 'input_file' }] }], 'input[0].content[0]'],
    ['a call without call_id', [user, { ...call, call_id: undefined }], 'input[1].call_id'],
    ['a call without arguments', [user, { ...call, arguments: undefined }], 'input[1].arguments'],
    ['a result without output', [user, call, { ...result, output: null }], 'input[2].output'],
    ['a result without call', [user, result], 'input[1]'],
    ['a call without result', [user, call, user], 'input[1]'],
    ['a phase of no kind', [{ role: 'assistant', content: 'x', phase: 'x' }], 'input[0].phase'],
    ['a summary that is none', [{ type: 'reasoning', summary: 'x' }], 'input[0].summary'],
  ])('%s is refused with its path', (_name, input, param) => {
    expect(refusal({ input })).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('reasoning of earlier turns', () => {
  const thought = (item: Json) => messagesOf(user, { type: 'reasoning', ...item })[1]?.content[0];
  const summary = [
    { type: 'summary_text', text: 'a' },
    { type: 'summary_text', text: 'b' },
  ];

  test('of its own format keeps id, summary and state', () => {
    expect(thought({ id: 'rs_1', summary, encrypted_content: 'gAAA' })).toEqual({
      ...{ type: 'reasoning', text: 'a\n\nb', kind: 'summary', data: 'gAAA', id: 'rs_1' },
      format: 'openai-responses-v1',
    });
    expect(thought({ id: 'rs_1', summary: [], encrypted_content: 'gAAA' })).toMatchObject({
      kind: 'encrypted',
    });
  });

  test('raw text wins over the summary; without state it is nobody’s to continue', () => {
    const content = [{ type: 'reasoning_text', text: 'raw' }];
    expect(thought({ summary, content })).toEqual({
      ...{ type: 'reasoning', text: 'raw', kind: 'full', format: 'unknown' },
    });
  });

  test('an envelope is opened: text, signature and format as they were', () => {
    const sealed = wrapState({ f: 'anthropic-claude-v1', m: 'up', s: 'sig' });
    expect(thought({ id: 'rs_x_0', summary: summary.slice(0, 1), encrypted_content: sealed })).toEqual({
      ...{ type: 'reasoning', text: 'a', kind: 'full', signature: 'sig', format: 'anthropic-claude-v1' },
    });
    const redacted = wrapState({ f: 'anthropic-claude-v1', m: 'up', d: 'data' });
    expect(thought({ summary: [], encrypted_content: redacted })).toMatchObject({
      kind: 'encrypted',
      data: 'data',
    });
  });

  test('the signature of a call goes back to its call', () => {
    const sealed = wrapState({ f: 'google-gemini-v1', m: 'up', s: 'gs', t: 'c1' });
    const messages = messagesOf(
      user,
      { type: 'reasoning', summary: [], encrypted_content: sealed },
      call,
      result,
    );
    expect(messages[1]?.content).toEqual([
      {
        ...{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}', kind: 'function' },
        ...{ signature: 'gs', format: 'google-gemini-v1' },
      },
    ]);
  });

  test('a damaged envelope is of no use to anybody, and no fault', () => {
    expect(thought({ summary, encrypted_content: 'svc1.%%%' })).toMatchObject({ format: 'unknown' });
  });
});
