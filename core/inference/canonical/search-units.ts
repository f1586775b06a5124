// Search units of a rerank call: one for each hundred documents, of which one of more than 500 tokens, the query
// among them, counts as several (docs/pricing.md#holds).
import type { RerankTask } from './types.ts';

const CHUNK_TOKENS = 500;
const UNIT_DOCUMENTS = 100;
/** What a chunk holds of its document at the least, however long the query is. */
const ROOM_MIN = 50;

/** Units of `task` where a text of n bytes has `tokens(n)` tokens; an upper bound with an upper bound of those. */
export function searchUnits(task: RerankTask, tokens: (bytes: number) => number): number {
  const room = Math.max(ROOM_MIN, CHUNK_TOKENS - tokens(Buffer.byteLength(task.query)));
  let chunks = 0;
  for (const document of task.documents) {
    chunks += Math.max(1, Math.ceil(tokens(Buffer.byteLength(document)) / room));
  }
  return Math.ceil(chunks / UNIT_DOCUMENTS);
}

/** Units that are counted where the provider tells none: never above what is held for them. */
export function estimatedUnits(task: RerankTask): number {
  return searchUnits(task, (bytes) => Math.floor(bytes / 6));
}

/** Units that are held for `task`: ⌈bytes / 1.5⌉ tokens, the bound of dense text. */
export function unitsBound(task: RerankTask): number {
  return searchUnits(task, (bytes) => Math.ceil((bytes * 2) / 3));
}
