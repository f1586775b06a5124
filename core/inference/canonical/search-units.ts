// Search units of a rerank call: one per hundred documents. A document that has more than 500 tokens together with
// the query counts as several (docs/money/pricing.md#holds).
import type { RerankTask } from './types.ts';

const CHUNK_TOKENS = 500;
const UNIT_DOCUMENTS = 100;
/** The smallest part of a chunk that is left for the document, however long the query is. */
const ROOM_MIN = 50;

/** Units of `task` when a text of n bytes has `tokens(n)` tokens. If `tokens` is an upper bound, so is the result. */
export function searchUnits(task: RerankTask, tokens: (bytes: number) => number): number {
  const room = Math.max(ROOM_MIN, CHUNK_TOKENS - tokens(Buffer.byteLength(task.query)));
  let chunks = 0;
  for (const document of task.documents) {
    chunks += Math.max(1, Math.ceil(tokens(Buffer.byteLength(document)) / room));
  }
  return Math.ceil(chunks / UNIT_DOCUMENTS);
}

/** Units to count when the provider reports none; never more than were held. */
export function estimatedUnits(task: RerankTask): number {
  return searchUnits(task, (bytes) => Math.floor(bytes / 6));
}

/** Units to hold for `task`: assumes ⌈bytes / 1.5⌉ tokens, the bound for dense text. */
export function unitsBound(task: RerankTask): number {
  return searchUnits(task, (bytes) => Math.ceil((bytes * 2) / 3));
}
