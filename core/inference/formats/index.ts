// The formats of the product. A new one is a folder here and a line in this list. A format may use the `words/` of
// those listed before it.
import { messagesFormat } from './anthropic-messages/index.ts';
import { bedrockFormat } from './bedrock-converse/index.ts';
import { buildFormats } from './build.ts';
import { embedRerankFormat } from './embed-rerank/index.ts';
import type { Format } from './format.ts';
import { geminiFormat } from './gemini/index.ts';
import { nativeFormat } from './native/index.ts';
import { openaiChatFormat } from './openai-chat/index.ts';
import { completionsFormat } from './openai-completions/index.ts';
import { embeddingsFormat } from './openai-embeddings/index.ts';
import { responsesFormat } from './openai-responses/index.ts';
import { sandboxFormat } from './sandbox/index.ts';

export const formats: readonly Format[] = [
  openaiChatFormat,
  responsesFormat,
  messagesFormat,
  geminiFormat,
  bedrockFormat,
  embedRerankFormat,
  sandboxFormat,
  completionsFormat,
  embeddingsFormat,
  nativeFormat,
];

/** What the product's programs use. */
export const builtIn = buildFormats(formats);
