// Amazon Bedrock's runtime, as a kind of provider.
import { bearer, listModels, type ProviderKind } from '../../../upstream/kind.ts';
import { awsSigner, readAwsKey } from '../../../upstream/sigv4.ts';

/**
 * Any model name will do: a key without access to it and a request without messages are refused with different
 * errors.
 */
const PROBED_MODEL = 'amazon.nova-micro-v1:0';

export const bedrockKind: ProviderKind = {
  kind: 'bedrock',
  families: { text: 'bedrock_converse', embed: null, rerank: null },
  hour_writes: false,
  /**
   * `ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]`, with which each request is signed, or an API key, which contains no
   * colon.
   */
  authenticate(key) {
    if (!key.includes(':')) return bearer(key);
    const parts = readAwsKey(key);
    if (parts === null) return { fault: 'is not ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]' };
    return { headers: [], sign: awsSigner(parts) };
  },
  // The runtime has no list of models.
  probe: {
    ...listModels,
    method: 'POST',
    path: `/model/${encodeURIComponent(PROBED_MODEL)}/converse`,
    good: [400],
  },
};
