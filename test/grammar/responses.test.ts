// The checker itself: a legal stream passes, and each violation of the grammar is reported.
import { describe, expect, test } from 'vitest';
import { checkResponsesStream } from './responses.ts';

type Json = Record<string, unknown>;

const nulls = Object.fromEntries(
  [
    ...['completed_at', 'error', 'incomplete_details', 'instructions', 'max_output_tokens', 'max_tool_calls'],
    ...[
      'previous_response_id',
      'prompt_cache_key',
      'safety_identifier',
      'temperature',
      'top_p',
      'user',
      'usage',
    ],
  ].map((key) => [key, null]),
);
const base: Json = {
  ...nulls,
  ...{ id: '01R', object: 'response', created_at: 5, status: 'in_progress', background: false, store: false },
  ...{
    metadata: {},
    model: 'a/b',
    output: [],
    parallel_tool_calls: true,
    reasoning: {},
    service_tier: 'default',
  },
  ...{ text: {}, tool_choice: 'auto', tools: [], top_logprobs: 0, truncation: 'disabled' },
  svc: { request_id: '01R', provider: 'p', endpoint_id: 'ep', cost: null, warnings: [] },
};
const usage = {
  ...{ input_tokens: 1, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 }, output_tokens: 1 },
  ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 },
};
const paid = { ...(base['svc'] as Json), cost: { total_micro_usd: 1, lines: [], price_version: 'pv' } };

const thought = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] };
const note = { type: 'url_citation', start_index: 0, end_index: 2, url: 'https://x', title: 'x' };
const text = { type: 'output_text', text: 'Hi', annotations: [note], logprobs: [] };
const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [text] };
const call = {
  ...{ id: 'fc_2', type: 'function_call', status: 'completed', call_id: 'c1', name: 'f', arguments: '{}' },
};
const tool = {
  ...{ id: 'ctc_3', type: 'custom_tool_call', status: 'completed', call_id: 'c2', name: 'g', input: 'x' },
};
const at = (id: string, index: number, more: Json = {}) => ({ item_id: id, output_index: index, ...more });
const s = at('rs_1', 0, { summary_index: 0 });
const m = at('msg_1', 1, { content_index: 0 });

const legal: Json[] = [
  { type: 'response.created', response: base },
  { type: 'response.in_progress', response: base },
  { type: 'response.output_item.added', output_index: 0, item: { ...thought, summary: [] } },
  { type: 'response.reasoning_summary_part.added', ...s, part: { type: 'summary_text', text: '' } },
  { type: 'response.reasoning_summary_text.delta', ...s, delta: 'hm' },
  { type: 'response.reasoning_summary_text.done', ...s, text: 'hm' },
  { type: 'response.reasoning_summary_part.done', ...s, part: thought.summary[0] },
  { type: 'response.output_item.done', output_index: 0, item: thought },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { ...message, status: 'in_progress', content: [] },
  },
  { type: 'response.content_part.added', ...m, part: { ...text, text: '', annotations: [] } },
  { type: 'response.output_text.delta', ...m, delta: 'H', logprobs: [] },
  { type: 'response.output_text.delta', ...m, delta: 'i', logprobs: [] },
  { type: 'response.output_text.annotation.added', ...m, annotation_index: 0, annotation: note },
  { type: 'response.output_text.done', ...m, text: 'Hi', logprobs: [] },
  { type: 'response.content_part.done', ...m, part: text },
  { type: 'response.output_item.done', output_index: 1, item: message },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { ...call, status: 'in_progress', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', ...at('fc_2', 2), delta: '{}' },
  { type: 'response.function_call_arguments.done', ...at('fc_2', 2), name: 'f', arguments: '{}' },
  { type: 'response.output_item.done', output_index: 2, item: call },
  {
    type: 'response.output_item.added',
    output_index: 3,
    item: { ...tool, status: 'in_progress', input: '' },
  },
  { type: 'response.custom_tool_call_input.delta', ...at('ctc_3', 3), delta: 'x' },
  { type: 'response.custom_tool_call_input.done', ...at('ctc_3', 3), input: 'x' },
  { type: 'response.output_item.done', output_index: 3, item: tool },
  {
    type: 'response.completed',
    response: {
      ...base,
      ...{ status: 'completed', completed_at: 6, usage, svc: paid, output: [thought, message, call, tool] },
    },
  },
];

function streamOf(events: readonly Json[], sequence: (n: number) => number = (n) => n): string {
  return events
    .map((event, n) => {
      const { type, ...rest } = event;
      const data = JSON.stringify({ type, sequence_number: sequence(n), ...rest });
      return `event: ${String(type)}\ndata: ${data}\n\n`;
    })
    .join('');
}

const without = (i: number) => legal.filter((_, n) => n !== i);
const changed = (i: number, more: Json) => legal.map((event, n) => (n === i ? { ...event, ...more } : event));
const last = legal.length - 1;
const end = (more: Json) => changed(last, { response: { ...(legal[last]?.['response'] as Json), ...more } });

test('a stream in the order of the grammar has no fault', () => {
  expect(checkResponsesStream(streamOf(legal))).toEqual([]);
});

test('comments between events are no fault, inside one they are', () => {
  const comment = ': svc keep-alive\n\n';
  const blocks = streamOf(legal).split('\n\n').slice(0, -1);
  expect(checkResponsesStream(comment + blocks.map((block) => `${block}\n\n${comment}`).join(''))).toEqual(
    [],
  );
  expect(checkResponsesStream(streamOf(legal).replace('\ndata:', '\n: x\ndata:'))).not.toEqual([]);
});

describe('each missing event is a fault', () => {
  test.each(legal.map((event, i) => [`${i} ${String(event['type'])}`, i] as const))('%s', (_name, i) => {
    expect(checkResponsesStream(streamOf(without(i)))).not.toEqual([]);
  });
});

test.each<[string, Json[]]>([
  ['an event after the end', [...legal, legal[4] as Json]],
  ['a second start', [legal[0] as Json, ...legal]],
  ['an item inside an item', [...legal.slice(0, 9), legal[16] as Json, ...legal.slice(9)]],
  ['a part inside a part', [...legal.slice(0, 10), legal[9] as Json, ...legal.slice(10)]],
  ['text after done', [...legal.slice(0, 14), legal[11] as Json, ...legal.slice(14)]],
  ['a skipped output_index', changed(8, { output_index: 2 })],
  ['a delta of another item', changed(10, { item_id: 'msg_9' })],
  ['a delta of another part', changed(10, { content_index: 1 })],
  ['a delta of another kind of item', changed(17, { type: 'response.output_text.delta', logprobs: [] })],
  ['a delta without logprobs', changed(10, { logprobs: undefined })],
  ['a done that is not the sum', changed(13, { text: 'Ho' })],
  ['a done item with another text', changed(19, { item: { ...call, arguments: '{"a":1}' } })],
  ['a done item under another id', changed(15, { item: { ...message, id: 'msg_2' } })],
  ['a done item in progress', changed(15, { item: { ...message, status: 'in_progress' } })],
  ['a used item id', changed(16, { item: { ...call, id: 'msg_1', arguments: '' } })],
  ['a used call id', changed(20, { item: { ...tool, call_id: 'c1', input: '' } })],
  ['arguments done without a name', changed(18, { name: undefined })],
  ['an empty text part without its lists', changed(9, { part: { type: 'output_text', text: '' } })],
  ['an end mark of another dialect', [...legal, { type: 'message_stop' }]],
  ['an unknown event', changed(4, { type: 'response.thinking.delta' })],
  ['an output that lacks an item', end({ output: [thought, message, call] })],
  ['an end without cost', end({ svc: base['svc'] })],
  ['an end without usage', end({ usage: null })],
  ['an end under another id', end({ id: '01S' })],
  ['an end that stores', end({ store: true })],
  ['an end that lacks a key', end({ truncation: undefined })],
  ['an end with another status', end({ status: 'incomplete' })],
  ['a completed end without a time', end({ completed_at: null })],
  ['a bare error event', [...legal.slice(0, 12), { type: 'error', message: 'x' }]],
  ['an unfinished item at a clean end', [...legal.slice(0, 13), end({ output: [thought] })[last] as Json]],
])('%s is a fault', (_name, events) => {
  expect(checkResponsesStream(streamOf(events))).not.toEqual([]);
});

test('a gap in the sequence is a fault', () => {
  expect(checkResponsesStream(streamOf(legal, (n) => (n > 5 ? n + 1 : n)))).not.toEqual([]);
  expect(checkResponsesStream(streamOf(legal, (n) => n + 1))).not.toEqual([]);
});

test('a data line alone, or the end mark of chat, is a fault', () => {
  expect(checkResponsesStream(`${streamOf(legal)}data: [DONE]\n\n`)).not.toEqual([]);
  expect(checkResponsesStream(streamOf(legal).replace(/^event: .*\n/, ''))).not.toEqual([]);
});

describe('a failure', () => {
  const cut = { ...message, status: 'incomplete', content: [{ ...text, text: 'H', annotations: [] }] };
  const failed = (more: Json) => ({
    type: 'response.failed',
    response: {
      ...base,
      ...{ status: 'failed', usage, svc: paid, output: [thought, cut] },
      error: { code: 'server_error', message: 'x' },
      ...more,
    },
  });
  const head = legal.slice(0, 11);

  test('may leave the last item open and show how far it came', () => {
    expect(checkResponsesStream(streamOf([...head, failed({})]))).toEqual([]);
  });

  test.each<[string, Json]>([
    ['calls the cut item completed', { output: [thought, message] }],
    ['shows an item that was never added', { output: [thought, cut, call] }],
    ['has a code that clients do not know', { error: { code: 'upstream_error', message: 'x' } }],
    ['has no error', { error: null }],
    ['has a time of completion', { completed_at: 5 }],
  ])('that %s is a fault', (_name, more) => {
    expect(checkResponsesStream(streamOf([...head, failed(more)]))).not.toEqual([]);
  });
});
