// Media that are no base64 are refused with their place in every dialect, before anybody pays for them; so are parts of a
// kind that a stand-in of the sandbox does not know.
import { chatTarget } from '@svc/test/grammar/chat-fixtures.ts';
import { describe, expect, test } from 'vitest';
import { messagesDialect } from './anthropic-messages/caller/index.ts';
import { chat } from './openai-chat/caller/index.ts';
import { responses } from './openai-responses/caller/index.ts';
import { sandboxAdapter } from './sandbox/upstream/adapter.ts';

const png = 'iVBORw0KGgo=';
const url = (data: string) => `data:image/png;base64,${data}`;
const user = (part: object) => ({ role: 'user', content: [{ type: 'text', text: 'See' }, part] });
const read = {
  chat: (part: object) => chat.read({ model: 'a/b', messages: [user(part)] }, {}),
  responses: (part: object) =>
    responses.read(
      { model: 'a/b', input: [{ role: 'user', content: [{ type: 'input_text', text: 'See' }, part] }] },
      {},
    ),
  messages: (part: object) =>
    messagesDialect.read({ model: 'a/b', max_tokens: 9, messages: [user(part)] }, {}),
};

describe.each<[keyof typeof read, string, (data: string) => object]>([
  [
    'chat',
    'messages[0].content[1].image_url.url',
    (d) => ({ type: 'image_url', image_url: { url: url(d) } }),
  ],
  [
    'chat',
    'messages[0].content[1].video_url.url',
    (d) => ({ type: 'video_url', video_url: { url: url(d) } }),
  ],
  [
    'chat',
    'messages[0].content[1].input_audio.data',
    (data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } }),
  ],
  ['chat', 'messages[0].content[1].file.file_data', (d) => ({ type: 'file', file: { file_data: url(d) } })],
  ['chat', 'messages[0].content[1].file.file_data', (d) => ({ type: 'file', file: { file_data: d } })],
  ['responses', 'input[0].content[1].image_url', (d) => ({ type: 'input_image', image_url: url(d) })],
  ['responses', 'input[0].content[1].file_data', (d) => ({ type: 'input_file', file_data: d })],
  [
    'responses',
    'input[0].content[1].input_audio.data',
    (data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } }),
  ],
  [
    'messages',
    'messages[0].content[1].source.data',
    (data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }),
  ],
])('%s: %s', (dialect, param, part) => {
  test.each(['!!!!', '', 'iVBO RwK=x', `${png}==`, `${'A'.repeat(200_000)}!`])('%.12s is refused', (data) => {
    expect(() => read[dialect](part(data))).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });

  test.each([png, 'iVBORw0K\nGgo=\n', 'A'.repeat(200_000), '_-8='])('%.12s is read', (data) => {
    expect(read[dialect](part(data)).messages[0]?.content[1]).toHaveProperty('src');
  });
});

test('a data URL in another encoding is refused, as no family can carry it', () => {
  const part = { type: 'image_url', image_url: { url: 'data:image/png,abc' } };
  expect(() => read.chat(part)).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'messages[0].content[1].image_url.url' }),
  );
});

test.each(['chat', 'responses'] as const)(
  'an unknown kind of part in %s is refused by the sandbox too',
  (name) => {
    const request = read[name]({ type: 'hologram', data: 'x' });
    const [loss] = sandboxAdapter.losses(request, chatTarget());
    expect(loss).toMatchObject({ class: 'content', param: 'messages[0].content[1]' });
  },
);
