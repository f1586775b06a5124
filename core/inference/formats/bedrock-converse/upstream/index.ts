// Amazon Bedrock's Converse API as a provider family.
import type { Adapter } from '../../../canonical/contract.ts';
import { classifyAnswer } from './classify.ts';
import { counting } from './count.ts';
import { COVERAGE } from './coverage.ts';
import { decodeAnswer } from './decode.ts';
import { ConverseDecoder } from './decoder.ts';
import { encodeRequest } from './encode.ts';
import { findLosses } from './losses.ts';

/** Reads and writes `POST {base_url}/model/{id}/converse` and `…/converse-stream`. */
export const bedrockConverse: Adapter = {
  family: 'bedrock_converse',
  runs: (tool) => tool.family === 'bedrock_converse',
  coverage: COVERAGE,
  wire: {
    in_process: false,
    needs_cap: false,
    signed_format: null,
    writes_cache_unasked: true,
    provider_name: 'aws.bedrock',
  },
  searchTool: () => undefined,
  // The API accepts bytes, and addresses in AWS's own store, which would be opened with the gateway's account instead
  // of the caller's.
  inlines: () => true,
  losses: findLosses,
  encode: encodeRequest,
  decode: decodeAnswer,
  decoder: (request, target) => new ConverseDecoder(request, target),
  classify: classifyAnswer,
  counting,
  promptTokens: null,
};
