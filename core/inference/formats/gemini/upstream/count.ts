// `POST {base_url}/models/{model}:countTokens`, which accepts a whole generateContent request.
import type { PromptCounting } from '../../../canonical/contract.ts';
import { countIn } from '../../../wire/pick.ts';

/** What a path of this family ends with. */
const METHOD = /:(?:generateContent|streamGenerateContent\?alt=sse)$/;

/** Google's own token count. */
export const counting: PromptCounting = {
  request({ path, headers, body }, { upstream_model }) {
    const model = upstream_model.includes('/') ? upstream_model : `models/${upstream_model}`;
    const rest = body.toString('utf8', body.indexOf(0x7b) + 1);
    return {
      path: path.replace(METHOD, ':countTokens'),
      headers,
      body: Buffer.from(`{"generateContentRequest":{"model":${JSON.stringify(model)},${rest}}`),
    };
  },
  read: (body) => ({ input_tokens: countIn(body, 'totalTokens').count }),
};
