// Writes vectors and rankings as the JSON text of a native answer.

import { shownWarnings } from '../../../../caller/svc.ts';
import type { CanonicalAnswer, ReplyEnd, ReplyMeta } from '../../../../canonical/types.ts';
import { vectorText } from '../../../openai-embeddings/words/vector.ts';

/** What both answers end with: which model answered, what it cost, and what the request lost. */
function tail(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const { provider, endpoint_id, request_id } = meta;
  // The model that the provider says answered, otherwise the one that was requested.
  const upstream_model = answer.upstream_model ?? meta.upstream_model;
  const resolved = { provider, endpoint_id, ...(upstream_model === undefined ? {} : { upstream_model }) };
  return (
    `"resolved":${JSON.stringify(resolved)},"cost":${JSON.stringify(end.cost)},` +
    `"warnings":${JSON.stringify(shownWarnings(end.warnings))},"request_id":${JSON.stringify(request_id)}}`
  );
}

/** The reply of POST /v1/svc/embed as JSON text. */
export function writeEmbed(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const data = (answer.vectors ?? []).map(
    (vector, index) =>
      `{"index":${index},"embedding":${vectorText(vector)},"dimensions":${vector.dimensions}}`,
  );
  const { input_tokens, source } = end.usage;
  const usage = { input_tokens, total_tokens: input_tokens, source };
  return (
    `{"object":"list","id":${JSON.stringify(meta.request_id)},"model":${JSON.stringify(meta.model)},` +
    `"data":[${data.join(',')}],"usage":${JSON.stringify(usage)},${tail(answer, meta, end)}`
  );
}

/** The reply of POST /v1/svc/rerank as JSON text. */
export function writeRerank(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const results = (answer.ranking ?? []).map(({ index, relevance_score, document }) => ({
    index,
    relevance_score,
    document: document === undefined ? null : { text: document },
  }));
  const { input_tokens, search_units = 0, source } = end.usage;
  const usage = { input_tokens, search_units, source };
  return (
    `{"object":"rerank","id":${JSON.stringify(meta.request_id)},"model":${JSON.stringify(meta.model)},` +
    `"results":${JSON.stringify(results)},"usage":${JSON.stringify(usage)},${tail(answer, meta, end)}`
  );
}
