// Anthropic's Messages API as a provider family.
import type { Adapter } from '../../../canonical/contract.ts';
import { classifyAnswer } from './classify.ts';
import { counting } from './count.ts';
import { decodeMessage } from './decode.ts';
import { AnthropicDecoder } from './decoder.ts';
import { encodeRequest } from './encode.ts';
import { findLosses } from './losses.ts';

/** Reads and writes `POST {base_url}/messages`. */
export const anthropicMessages: Adapter = {
  family: 'anthropic_messages',
  inlines: () => false,
  losses: findLosses,
  encode: encodeRequest,
  decode: (body, request) => decodeMessage(body, request),
  decoder: (request) => new AnthropicDecoder(request),
  classify: classifyAnswer,
  counting,
  promptTokens: null,
};
