// Endpoints that turn texts and images into vectors, or rank documents: Cohere, Jina, Voyage, Gemini, OpenAI and
// compatible servers.
import type { Adapter, StreamDecoder } from '../../../canonical/contract.ts';
import type { UpstreamFault } from '../../../canonical/types.ts';
import { classify as classifyOpenAi } from '../../openai-chat/words/classify.ts';
import { decodeTask } from './decode.ts';
import { encodeTask } from './encode.ts';
import { lossesOf } from './losses.ts';

/** Matches errors for a text that is too long, which these servers word in their own ways. */
const TOO_LONG = /too many tokens|too long|maximum (?:input|sequence) length|exceeds? the (?:maximum|max)/i;
/** Google answers a wrong key with 400. */
const WRONG_KEY = /api key not valid|api_key_invalid/i;

function classify(status: number, headers: Readonly<Record<string, string>>, body: Buffer): UpstreamFault {
  const fault = classifyOpenAi(status, headers, body);
  if (fault.class !== 'client') return fault;
  if (WRONG_KEY.test(fault.message)) return { ...fault, class: 'auth' };
  return TOO_LONG.test(fault.message) ? { ...fault, class: 'context_length' } : fault;
}

/** The adapter of family `embed_rerank`. Its answers are never streamed, and its requests always have a `task`. */
export const embedRerank: Adapter = {
  family: 'embed_rerank',
  runs: () => false,
  coverage: null,
  wire: {
    in_process: false,
    needs_cap: false,
    signed_format: null,
    writes_cache_unasked: true,
    provider_name: null,
  },
  searchTool: null,
  losses: lossesOf,
  inlines: () => true,
  encode: encodeTask,
  decode: decodeTask,
  decoder(): StreamDecoder {
    throw new Error('vectors and rankings are not streamed');
  },
  classify,
  counting: null,
  promptTokens: null,
};
