// What a server says of its own working stays back in the raw lanes: members named `__…`, and those that the catalog
// hides. Everything else of an answer comes through.
import { chatEnd, chatMeta, chatRequest, chatTarget, runRelay } from '@svc/test/grammar/chat-fixtures.ts';
import {
  counted,
  meta as messagesMeta,
  request as messagesRequest,
  target as messagesTarget,
  paid,
} from '@svc/test/grammar/messages-cases.ts';
import { responsesRequest, responsesTarget } from '@svc/test/grammar/openai-responses-fixtures.ts';
import { meta as responsesMeta } from '@svc/test/grammar/responses-cases.ts';
import { expect, test } from 'vitest';
import { messagesRawLane } from './anthropic-messages/caller/index.ts';
import { rawChat } from './openai-chat/caller/index.ts';
import { completions } from './openai-completions/caller/index.ts';
import { rawCompletions } from './openai-completions/raw/index.ts';
import { rawResponses } from './openai-responses/raw/index.ts';

const own = '"__verbose":{"prompt":"<|im_start|>","model":"/srv/model.gguf"},"timings":{"predicted_ms":9}';
const kept = '"kept":{"n":1.50}';
const hide = ['timings'];
const prompt = completions.read({ model: 'a/b', prompt: 'Hi' }, {});
const usage = '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}';

const chunk = (choice: string) =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${choice}],${own},${kept}}\n\n`;
const text = (choice: string) =>
  `data: {"id":"c","object":"text_completion","created":1,"model":"m","choices":[${choice}],${own},${kept}}\n\n`;
const event = (type: string, members: string) =>
  `event: ${type}\ndata: {"type":"${type}",${members},${own},${kept}}\n\n`;
const delta = (word: string) =>
  event('content_block_delta', `"index":0,"delta":{"type":"text_delta","text":"${word}"}`);
const piece = (n: number, word: string) =>
  event(
    'response.output_text.delta',
    `"sequence_number":${n},"item_id":"m","output_index":0,"content_index":0,"delta":"${word}"`,
  );
const item = '{"id":"m","type":"message","role":"assistant","status":"in_progress","content":[]}';

/** Several events of a kind: one is read, those after it may be copied. */
const streams = {
  chat: [
    rawChat.relay(chatMeta(), chatRequest(), { ...chatTarget(), hide }),
    chunk('{"index":0,"delta":{"role":"assistant","content":"One"},"finish_reason":null}') +
      ['two', 'three', 'four']
        .map((word) => chunk(`{"index":0,"delta":{"content":"${word}"},"finish_reason":null}`))
        .join('') +
      chunk('') +
      chunk('{"index":0,"delta":{},"finish_reason":"stop"}') +
      'data: [DONE]\n\n',
  ],
  completions: [
    rawCompletions.relay(chatMeta(), prompt, { ...chatTarget(['completions_path']), hide }),
    ['One', 'two', 'three', 'four']
      .map((word) => text(`{"index":0,"text":"${word}","logprobs":null,"finish_reason":null}`))
      .join('') +
      text('{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}') +
      'data: [DONE]\n\n',
  ],
  messages: [
    messagesRawLane.relay(messagesMeta, messagesRequest(), { ...messagesTarget(), hide }),
    event(
      'message_start',
      `"message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":3,"output_tokens":1},${own}}`,
    ) +
      event('content_block_start', '"index":0,"content_block":{"type":"text","text":""}') +
      ['One', 'two', 'three', 'four'].map(delta).join('') +
      event('content_block_stop', '"index":0') +
      event('message_delta', '"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}') +
      event('message_stop', '"index":0'),
  ],
  responses: [
    rawResponses.relay(responsesMeta, responsesRequest(), { ...responsesTarget(), hide }),
    event('response.created', `"sequence_number":0,"response":{"id":"r","output":[],${own}}`) +
      event('response.output_item.added', `"sequence_number":1,"output_index":0,"item":${item}`) +
      event(
        'response.content_part.added',
        '"sequence_number":2,"item_id":"m","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}',
      ) +
      ['One', 'two', 'three', 'four'].map((word, i) => piece(3 + i, word)).join('') +
      event(
        'response.completed',
        `"sequence_number":7,"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7},${own}}`,
      ),
  ],
} as const;

test.each(Object.entries(streams))('of a stream of %s', (_, [relay, sse]) => {
  const out = runRelay(relay, [Buffer.from(sse)]);
  expect(relay.state.fault).toBeNull();
  for (const word of ['One', 'two', 'three', 'four']) expect(out).toContain(`"${word}"`);
  expect(out).toContain(kept);
  expect(out).not.toMatch(/__verbose|timings|gguf|im_start/);
});

const choice = '{"index":0,"message":{"role":"assistant","content":"One"},"finish_reason":"stop"}';
const wholes = {
  chat: [
    rawChat.whole,
    chatRequest(),
    chatTarget(),
    `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[${choice}],${usage},${own},${kept}}`,
  ],
  completions: [
    rawCompletions.whole,
    prompt,
    chatTarget(['completions_path']),
    `{"id":"c","object":"text_completion","choices":[{"index":0,"text":"One","finish_reason":"stop"}],${usage},${own},${kept}}`,
  ],
  messages: [
    messagesRawLane.whole,
    messagesRequest(),
    messagesTarget(),
    `{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"One"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1},${own},${kept}}`,
  ],
  responses: [
    rawResponses.whole,
    responsesRequest(),
    responsesTarget(),
    `{"id":"r","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"One"}]}],"usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4},${own},${kept}}`,
  ],
} as const;

test.each(Object.entries(wholes))('of a whole answer of %s', (name, [whole, request, target, body]) => {
  const read = whole(Buffer.from(body), request, { ...target, hide });
  const [meta, end] =
    name === 'messages' ? [messagesMeta, paid(counted)] : [{ ...responsesMeta, ...chatMeta() }, chatEnd()];
  const out = read.finish(meta, end).toString();
  expect(out).toContain('"One"');
  expect(out).toContain(kept);
  expect(out).not.toMatch(/__verbose|timings|gguf|im_start/);
});
