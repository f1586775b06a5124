// Completes and sorts a provider's answer to a task, and converts it to the requested form, before the caller's
// dialect writes it. Also applied to the sandbox's answers.
import { ProtocolFault } from '../../wire/fault.ts';
import type { CanonicalAnswer, EmbedTask, Ranked, RerankTask, Task, Vector } from '../types.ts';
import { vectorIn } from './vectors.ts';

/** `answer` in the order and form that `task` asks for. @throws ProtocolFault when something is missing. */
export function settleTask(answer: CanonicalAnswer, task: Task): CanonicalAnswer {
  return task.kind === 'embed'
    ? { ...answer, vectors: settledVectors(answer.vectors, task) }
    : { ...answer, ranking: settledRanking(answer.ranking, task) };
}

function settledVectors(vectors: Vector[] | undefined, task: EmbedTask): Vector[] {
  if (vectors === undefined || vectors.length !== task.input.length) {
    throw new ProtocolFault(`${vectors?.length ?? 0} vectors came for ${task.input.length} inputs`);
  }
  // A vector of another length would silently corrupt the caller's index.
  const dimensions = task.dimensions ?? vectors[0]?.dimensions;
  for (const vector of vectors) {
    if (vector.dimensions !== dimensions) {
      throw new ProtocolFault(`a vector has ${vector.dimensions} dimensions, not ${dimensions}`);
    }
  }
  return vectors.map((vector) => vectorIn(task.encoding, vector));
}

function settledRanking(ranking: Ranked[] | undefined, task: RerankTask): Ranked[] {
  const { documents, top_n } = task;
  const seen = new Set<number>();
  for (const { index, relevance_score } of ranking ?? []) {
    const known = Number.isInteger(index) && index >= 0 && index < documents.length;
    if (!known || seen.has(index)) throw new ProtocolFault('a result names no document, or one twice');
    if (!Number.isFinite(relevance_score)) throw new ProtocolFault('a result has no score');
    seen.add(index);
  }
  if (seen.size < top_n) throw new ProtocolFault(`${seen.size} results came where ${top_n} were asked for`);
  const sorted = [...(ranking as Ranked[])].sort(
    (a, b) => b.relevance_score - a.relevance_score || a.index - b.index,
  );
  return sorted
    .slice(0, top_n)
    .map(({ index, relevance_score }) =>
      task.return_documents
        ? { index, relevance_score, document: documents[index] as string }
        : { index, relevance_score },
    );
}
