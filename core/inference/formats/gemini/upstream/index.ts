// Google's Gemini API as a provider family.

import type { Adapter } from '../../../canonical/contract.ts';
import { readSearchTool } from '../words/search.ts';
import { classifyAnswer } from './classify.ts';
import { isVideoPage } from './content.ts';
import { counting } from './count.ts';
import { COVERAGE } from './coverage.ts';
import { decodeResponse } from './decode.ts';
import { GeminiDecoder } from './decoder.ts';
import { encodeRequest } from './encode.ts';
import { findLosses } from './losses.ts';
import { runsTool } from './tools.ts';

/** Reads and writes `POST {base_url}/models/{model}:generateContent` and `:streamGenerateContent?alt=sse`. */
export const gemini: Adapter = {
  family: 'gemini',
  runs: runsTool,
  coverage: COVERAGE,
  wire: {
    in_process: false,
    needs_cap: false,
    signed_format: 'google-gemini-v1',
    writes_cache_unasked: true,
    provider_name: null,
  },
  searchTool: readSearchTool,
  // The provider fetches only video pages by itself.
  inlines: (type, url) => !(type === 'video' && isVideoPage(url)),
  losses: findLosses,
  encode: encodeRequest,
  decode: decodeResponse,
  decoder: (request, target) => new GeminiDecoder(request, target),
  classify: classifyAnswer,
  counting,
  promptTokens: null,
};
