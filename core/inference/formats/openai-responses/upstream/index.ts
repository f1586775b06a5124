// Endpoints that speak OpenAI's Responses API: OpenAI itself and servers compatible with it. Always stateless.

import type { Adapter } from '../../../canonical/contract.ts';
import { readSearchTool } from '../words/search.ts';
import { classifyAnswer } from './classify.ts';
import { counting } from './count.ts';
import { COVERAGE } from './coverage.ts';
import { decodeResponse } from './decode.ts';
import { ResponsesDecoder } from './decoder.ts';
import { encodeRequest } from './encode.ts';
import { lossesOf, runsTool } from './losses.ts';

/** The adapter of family `openai_responses`. */
export const openaiResponses: Adapter = {
  family: 'openai_responses',
  runs: runsTool,
  coverage: COVERAGE,
  wire: {
    in_process: false,
    needs_cap: false,
    signed_format: 'openai-responses-v1',
    writes_cache_unasked: true,
    provider_name: null,
  },
  searchTool: readSearchTool,
  inlines: () => false,
  losses: lossesOf,
  encode: encodeRequest,
  decode: (body, _request, target) => decodeResponse(body, target.flags),
  decoder: (_request, target) => new ResponsesDecoder(target.flags),
  classify: classifyAnswer,
  counting,
  promptTokens: null,
};
