// An event may have its data in several lines, which a reader joins (WHATWG HTML 9.2.6). Nothing of it may be lost or
// torn: not where a stream is copied, not where it is read.
import {
  chatFixtures,
  chatMeta,
  chatRequest,
  chatTarget,
  runRelay,
} from '@svc/test/grammar/chat-fixtures.ts';
import {
  asked,
  fixture as geminiFixture,
  streams as geminiNames,
  target as geminiTarget,
} from '@svc/test/grammar/gemini-cases.ts';
import {
  fixture as messagesFixture,
  meta as messagesMeta,
  fixtures as messagesNames,
  request as messagesRequest,
  target as messagesTarget,
} from '@svc/test/grammar/messages-cases.ts';
import {
  responsesFixtures,
  responsesRequest,
  responsesTarget,
} from '@svc/test/grammar/openai-responses-fixtures.ts';
import { meta as responsesMeta } from '@svc/test/grammar/responses-cases.ts';
import { describe, expect, test } from 'vitest';
import type { Relay } from '../canonical/contract.ts';
import { canonicalRelay } from '../canonical/relay.ts';
import { SseReader } from '../wire/sse.ts';
import { messagesDialect, messagesRawLane } from './anthropic-messages/caller/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { gemini } from './gemini/upstream/index.ts';
import { chat, rawChat } from './openai-chat/caller/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';
import { completions } from './openai-completions/caller/index.ts';
import { rawCompletions } from './openai-completions/raw/index.ts';
import { responses } from './openai-responses/caller/index.ts';
import { rawResponses } from './openai-responses/raw/index.ts';
import { openaiResponses } from './openai-responses/upstream/index.ts';

const prompt = completions.read({ model: 'a/b', prompt: 'Hi' }, {});
const JSON_LINE = /^(data: ?)(\{.*)$/gm;
const TOKEN = /"(?:\\.|[^"\\])*"?|[,{]/g;

/** The same stream with a line of its own for every member. */
function inLines(sse: string): string {
  const broken = (json: string) =>
    json.replaceAll(TOKEN, (token) => (token.length === 1 && token !== '"' ? `${token}\ndata: ` : token));
  return sse.replaceAll('\r\n', '\n').replaceAll(JSON_LINE, (_, name, json) => name + broken(json));
}

/** What a reader of `sse` gets; each event has its data in one line, as clients that read by line expect. */
function said(sse: string): unknown[] {
  for (const event of sse.split('\n\n')) expect(event.match(/^data:/gm)?.length ?? 0).toBeLessThanOrEqual(1);
  return new SseReader()
    .push(Buffer.from(sse))
    .map(({ event, data }) => [event, data === '[DONE]' ? data : JSON.parse(data)]);
}

interface Stream {
  readonly name: string;
  readonly sse: Buffer;
  /** A relay that copies it, where there is one, and one that reads it and writes it anew. */
  readonly relays: readonly (() => Relay)[];
}

const streams: Record<string, readonly Stream[]> = {
  chat: chatFixtures().map(({ name, sse, flags }) => {
    const [of, at] = [chatRequest(), chatTarget(flags)];
    const relays = [
      () => rawChat.relay(chatMeta(), of, at),
      () => canonicalRelay(openaiChat.decoder(of, at), chat.writer(chatMeta())),
    ];
    return { name, sse, relays };
  }),
  completions: [
    {
      name: 'two chunks',
      sse: Buffer.from(
        'data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":"a, {b"}]}\n\n' +
          'data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":"c","finish_reason":"stop"}]}\n\n' +
          'data: [DONE]\n\n',
      ),
      relays: [() => rawCompletions.relay(chatMeta(), prompt, chatTarget(['completions_path']))],
    },
  ],
  responses: responsesFixtures().map(({ name, sse, flags }) => {
    const [of, at] = [responsesRequest(), responsesTarget({ flags })];
    const relays = [
      () => rawResponses.relay(responsesMeta, of, at),
      () => canonicalRelay(openaiResponses.decoder(of, at), responses.writer(responsesMeta)),
    ];
    return { name, sse, relays };
  }),
  messages: messagesNames('.sse').map((name) => {
    const [of, at] = [messagesRequest(), messagesTarget()];
    const relays = [
      () => messagesRawLane.relay(messagesMeta, of, at),
      () => canonicalRelay(anthropicMessages.decoder(of, at), messagesDialect.writer(messagesMeta)),
    ];
    return { name, sse: messagesFixture(`${name}.sse`), relays };
  }),
  gemini: geminiNames().map((name) => {
    const relays = [() => canonicalRelay(gemini.decoder(asked(), geminiTarget()), chat.writer(chatMeta()))];
    return { name, sse: geminiFixture(`${name}.sse`), relays };
  }),
};

describe.each(Object.entries(streams))('%s', (_, all) => {
  test.each(all)('$name is the same in several lines', ({ sse, relays }) => {
    const text = sse.toString().replaceAll('\r\n', '\n');
    const broken = inLines(text);
    expect(broken).not.toBe(text);
    for (const start of relays) {
      const [one, other] = [start(), start()];
      const plain = said(runRelay(one, [Buffer.from(text)]));
      expect(said(runRelay(other, [Buffer.from(broken)]))).toEqual(plain);
      expect(other.state).toEqual(one.state);
    }
  });
});
