// Anthropic's Messages API as a provider family.

import type { Adapter } from '../../../canonical/contract.ts';
import { readSearchTool } from '../words/search.ts';
import { classifyAnswer } from './classify.ts';
import { counting } from './count.ts';
import { COVERAGE } from './coverage.ts';
import { decodeMessage } from './decode.ts';
import { AnthropicDecoder } from './decoder.ts';
import { encodeRequest } from './encode.ts';
import { findLosses, runsTool } from './losses.ts';

/** Reads and writes `POST {base_url}/messages`. */
export const anthropicMessages: Adapter = {
  family: 'anthropic_messages',
  runs: runsTool,
  coverage: COVERAGE,
  // The provider writes its cache only when asked to.
  wire: {
    in_process: false,
    needs_cap: true,
    signed_format: 'anthropic-claude-v1',
    writes_cache_unasked: false,
    provider_name: null,
  },
  searchTool: readSearchTool,
  inlines: () => false,
  losses: findLosses,
  encode: encodeRequest,
  decode: (body, request) => decodeMessage(body, request),
  decoder: (request) => new AnthropicDecoder(request),
  classify: classifyAnswer,
  counting,
  promptTokens: null,
};
