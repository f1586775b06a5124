// The checker itself: a legal stream passes, and each violation of the grammar is reported.
import { expect, test } from 'vitest';
import { checkMessagesStream } from './messages.ts';

const svc = { request_id: '01R', provider: 'p', endpoint_id: 'ep_1', cost: null, warnings: [] };
const paid = { ...svc, cost: { total_micro_usd: 1, lines: [], price_version: 'pv_1' } };
const usage = {
  input_tokens: 3,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 1,
};
const nulls = {
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
};

function event(data: { type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
const block = (index: number, content_block: object) =>
  event({ type: 'content_block_start', index, content_block } as never);
const delta = (index: number, part: object) =>
  event({ type: 'content_block_delta', index, delta: part } as never);
const close = (index: number) => event({ type: 'content_block_stop', index } as never);

const legal = [
  event({
    type: 'message_start',
    message: {
      id: '01R',
      type: 'message',
      role: 'assistant',
      model: 'a/b',
      content: [],
      ...nulls,
      usage,
      svc,
    },
  } as never),
  event({ type: 'ping' }),
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'hm' }),
  delta(0, { type: 'signature_delta', signature: 'c2ln' }),
  close(0),
  block(1, { type: 'text', text: '', citations: null }),
  delta(1, { type: 'text_delta', text: 'Hi' }),
  close(1),
  block(2, { type: 'tool_use', id: 't1', name: 'f', input: {} }),
  delta(2, { type: 'input_json_delta', partial_json: '' }),
  close(2),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
    usage: { ...usage, output_tokens_details: null, server_tool_use: null },
    svc: paid,
  } as never),
  event({ type: 'message_stop' }),
];

test('a stream in the order of the grammar has no fault', () => {
  expect(checkMessagesStream(legal.join(''))).toEqual([]);
});

test('comments between events are no fault, inside one they are', () => {
  const comment = ': svc keep-alive\n\n';
  expect(checkMessagesStream(comment + legal.join(comment) + comment)).toEqual([]);
  const broken = legal.join('').replace('\ndata:', '\n: svc keep-alive\ndata:');
  expect(checkMessagesStream(broken)).not.toEqual([]);
});

test.each([
  ['a missing end', legal.slice(0, -1)],
  ['a missing settlement', [...legal.slice(0, 12), ...legal.slice(13)]],
  ['a missing start', legal.slice(1)],
  ['an event after the end', [...legal, event({ type: 'ping' })]],
  ['a second start', [legal[0], ...legal]],
  ['interleaved blocks', [...legal.slice(0, 3), legal[6], ...legal.slice(3)]],
  ['a skipped index', [...legal.slice(0, 2), ...legal.slice(6)]],
  [
    'text in a thinking block',
    [...legal.slice(0, 3), delta(0, { type: 'text_delta', text: 'x' }), ...legal.slice(3)],
  ],
  ['thinking after its signature', [...legal.slice(0, 5), legal[3], ...legal.slice(5)]],
  ['a call without any arguments delta', [...legal.slice(0, 10), ...legal.slice(11)]],
  [
    'content after the settlement',
    [...legal.slice(0, 13), block(3, { type: 'text', text: '' }), ...legal.slice(13)],
  ],
  ['an end mark of another dialect', [...legal, 'data: [DONE]\n\n']],
  ['a start without svc', [legal[0]?.replace('"svc"', '"svx"'), ...legal.slice(1)]],
  [
    'a settlement without cost',
    [...legal.slice(0, 12), legal[12]?.replace('"cost":{', '"coast":{'), legal[13]],
  ],
  ['an input of zero', [legal[0]?.replace('"input_tokens":3', '"input_tokens":0'), ...legal.slice(1)]],
  [
    'a bare error',
    [...legal.slice(0, 8), event({ type: 'error', error: { type: 'api_error', message: 'x' } } as never)],
  ],
])('%s is a fault', (_name, events) => {
  expect(checkMessagesStream(events.join(''))).not.toEqual([]);
});
