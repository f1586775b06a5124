// Writes vectors as the JSON text of an embeddings answer, which like OpenAI's has no `id`.

import { svcText } from '../../../caller/svc.ts';
import type { CanonicalAnswer, ReplyEnd, ReplyMeta } from '../../../canonical/types.ts';
import { vectorText } from '../words/vector.ts';

/** The whole answer as JSON text. */
export function writeEmbeddings(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const data = (answer.vectors ?? []).map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${vectorText(vector)}}`,
  );
  const tokens = end.usage.input_tokens;
  return (
    `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(meta.model)},` +
    `"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}},"svc":${svcText(meta, end)}}`
  );
}
