// Reads an answer as a caller of each dialect would: by its grammar alone, whole or folded from its stream.

import { checkChatStream } from '../grammar/chat.ts';
import { readChatStream } from '../grammar/chat-fixtures.ts';
import { checkCompletionsStream } from '../grammar/completions.ts';
import { checkMessagesStream } from '../grammar/messages.ts';
import { finalMessage } from '../grammar/messages-cases.ts';
import { checkNativeStream, readNativeStream } from '../grammar/native.ts';
import { checkResponsesStream } from '../grammar/responses.ts';
import { finalResponse } from '../grammar/responses-cases.ts';
import type { Dialect } from './types.ts';

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
type Wire = any;

/** The meaning of an answer, the same for every dialect. */
export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly (readonly [name: string, args: unknown])[];
  /** Addresses of pages, and words quoted from documents. */
  readonly cites: readonly string[];
  readonly logprobs: readonly number[];
  /** Base64 of pictures. */
  readonly images: readonly string[];
  /** The dialect's own word. */
  readonly stop: unknown;
  readonly usage: Wire;
  readonly warnings: readonly string[];
}

const joined = (list: Wire[], of: (item: Wire) => string | undefined) =>
  list.map((item) => of(item) ?? '').join('');
/** A page's address, or the words that were quoted. */
const citedBy = ({ url, cited_text }: Wire): string => url ?? cited_text;
const codes = (svc: Wire): string[] => (svc?.warnings ?? []).map(({ code }: Wire) => code);
const parsed = (text: string): unknown => JSON.parse(text);

function chat(body: Wire): Heard {
  const { message, finish_reason, logprobs } = body.choices[0];
  return {
    text: message.content ?? '',
    reasoning: message.reasoning_content ?? '',
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).map(({ function: made }: Wire) => [made.name, parsed(made.arguments)]),
    cites: (message.annotations ?? []).map(({ url_citation }: Wire) => url_citation.url),
    logprobs: (logprobs?.content ?? []).map(({ logprob }: Wire) => logprob),
    images: (message.images ?? []).map(({ image_url }: Wire) => image_url.url.split(',')[1]),
    stop: finish_reason,
    usage: body.usage,
    warnings: codes(body.svc),
  };
}

function chatStream(bytes: string): Wire {
  const { choices, usage, svc } = readChatStream(bytes);
  return {
    usage,
    svc,
    choices: Object.values(choices).map((choice) => ({
      finish_reason: choice.finish,
      logprobs: { content: choice.logprobs },
      message: {
        content: choice.content,
        refusal: choice.refusal,
        reasoning_content: choice.reasoning,
        reasoning_details: choice.details,
        annotations: choice.annotations,
        images: choice.images,
        tool_calls: choice.calls.map(({ name, arguments: text, id, extra }) => ({
          id,
          type: 'function',
          function: { name, arguments: text },
          ...(extra === null ? {} : { extra_content: extra }),
        })),
      },
    })),
  };
}

function completions(body: Wire): Heard {
  const { text, finish_reason } = body.choices[0];
  const none = { reasoning: '', refusal: '', calls: [], cites: [], logprobs: [], images: [] };
  return { ...none, text, stop: finish_reason, usage: body.usage, warnings: codes(body.svc) };
}

function completionsStream(bytes: string): Wire {
  const out: Wire = { choices: [{ text: '', finish_reason: null }], usage: null, svc: null };
  for (const frame of bytes.split('\n\n')) {
    if (!frame.startsWith('data: {')) continue;
    const chunk = JSON.parse(frame.slice(6));
    out.usage = chunk.usage ?? out.usage;
    out.svc = chunk.svc ?? out.svc;
    for (const choice of chunk.choices) {
      out.choices[0].text += choice.text;
      out.choices[0].finish_reason = choice.finish_reason ?? out.choices[0].finish_reason;
    }
  }
  return out;
}

/** Only whole answers have cache writes by lifetime: the last event of a stream has no such key. */
function usageOf(body: Wire): Wire {
  const { cache_creation: _split, ...usage } = body.usage;
  return usage;
}

function messages(body: Wire): Heard {
  const of = (type: string): Wire[] => body.content.filter((block: Wire) => block.type === type);
  return {
    text: joined(of('text'), ({ text }) => text),
    reasoning: joined(of('thinking'), ({ thinking }) => thinking),
    refusal: '',
    calls: of('tool_use').map(({ name, input }) => [name, typeof input === 'string' ? parsed(input) : input]),
    cites: of('text').flatMap(({ citations }) => (citations ?? []).map(citedBy)),
    logprobs: [],
    images: [],
    stop: body.stop_reason,
    usage: usageOf(body),
    warnings: codes(body.svc),
  };
}

function responses(body: Wire): Heard {
  const of = (type: string): Wire[] => body.output.filter((item: Wire) => item.type === type);
  const parts: Wire[] = of('message').flatMap(({ content }) => content);
  const texts = parts.filter(({ type }) => type === 'output_text');
  return {
    text: joined(texts, ({ text }) => text),
    reasoning: joined(
      of('reasoning').flatMap(({ summary, content }) => [...summary, ...(content ?? [])]),
      ({ text }) => text,
    ),
    refusal: joined(parts, ({ refusal }) => refusal),
    calls: of('function_call').map(({ name, arguments: text }) => [name, parsed(text)]),
    cites: texts.flatMap(({ annotations }) => annotations.map(({ url }: Wire) => url)),
    logprobs: texts.flatMap(({ logprobs }) => (logprobs ?? []).map(({ logprob }: Wire) => logprob)),
    images: [],
    stop: body.incomplete_details === null ? body.status : `${body.status}/${body.incomplete_details.reason}`,
    usage: body.usage,
    warnings: codes(body.svc),
  };
}

function native(body: Wire): Heard {
  const { content, stop } = body.candidates[0];
  const of = (type: string): Wire[] => content.filter((part: Wire) => part.type === type);
  return {
    text: joined(of('text'), ({ text }) => text),
    reasoning: joined(of('reasoning'), ({ text }) => text),
    refusal: joined(of('refusal'), ({ text }) => text),
    calls: of('tool_call').map(({ name, arguments: text }) => [name, parsed(text)]),
    cites: of('text').flatMap(({ citations }) => (citations ?? []).map(citedBy)),
    logprobs: of('text').flatMap(({ logprobs }) => (logprobs ?? []).map(({ logprob }: Wire) => logprob)),
    images: of('image').map(({ src }) => src.base64),
    stop: stop?.reason,
    usage: body.usage,
    warnings: (body.warnings ?? []).map(({ code }: Wire) => code),
  };
}

interface Listener {
  readonly hear: (body: Wire) => Heard;
  /** The whole answer that a stream adds up to. */
  readonly fold: (bytes: string) => Wire;
  readonly faults: (bytes: string, raw: boolean) => string[];
}

const WITH_USAGE = { include_usage: true };

export const listeners: Readonly<Record<Dialect, Listener>> = {
  chat: { hear: chat, fold: chatStream, faults: (bytes) => checkChatStream(bytes, WITH_USAGE) },
  responses: { hear: responses, fold: finalResponse, faults: (bytes) => checkResponsesStream(bytes) },
  messages: {
    hear: messages,
    fold: (bytes) => finalMessage(bytes).message,
    faults: (bytes, raw) => checkMessagesStream(bytes, raw ? 'raw' : 'canonical'),
  },
  completions: {
    hear: completions,
    fold: completionsStream,
    faults: (bytes) => checkCompletionsStream(bytes, WITH_USAGE),
  },
  native: { hear: native, fold: readNativeStream, faults: (bytes) => checkNativeStream(bytes) },
};
