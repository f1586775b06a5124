// Endpoints with OpenAI's chat completions: OpenAI itself and the many compatible servers.
import type { Adapter } from '../../../canonical/contract.ts';
import { classify } from '../words/classify.ts';
import { searchesSold } from '../words/fields.ts';
import { COVERAGE } from './coverage.ts';
import { decodeAnswer } from './decode.ts';
import { ChatDecoder } from './decoder.ts';
import { encodeRequest } from './encode.ts';
import { lossesOf, runsTool } from './losses.ts';

/** The adapter of family `openai_chat`. */
export const openaiChat: Adapter = {
  family: 'openai_chat',
  runs: runsTool,
  coverage: COVERAGE,
  wire: {
    in_process: false,
    needs_cap: false,
    signed_format: null,
    writes_cache_unasked: true,
    provider_name: null,
  },
  searchTool: () => undefined,
  inlines: () => false,
  losses: lossesOf,
  encode: encodeRequest,
  decode: (body, request, target) => decodeAnswer(body, target.flags, searchesSold(request, target)),
  decoder: (request, target) => new ChatDecoder(target.flags, searchesSold(request, target)),
  classify,
  counting: null,
  promptTokens: null,
};
