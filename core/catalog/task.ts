// Which models make vectors or an order of documents in place of text, and which providers can be asked for that.
import type { KindFacts, ModelTask } from './types.ts';

const modalityOf = { embedding: 'embed', ranking: 'rerank' } as const;

/** The task that `out` (a model's `modalities.out`) stands for; null for models that generate. */
export function taskOf(out: readonly string[] | undefined): ModelTask | null {
  for (const [modality, task] of Object.entries(modalityOf)) {
    if (out?.includes(modality)) return task;
  }
  return null;
}

/** Why a model with `out` cannot stand at a provider of `kind`, whose families are `families`; or null. */
export function taskFault(
  kind: string,
  families: KindFacts['families'],
  out: readonly string[] | undefined,
): string | null {
  const task = taskOf(out);
  if (task !== null && (out?.length ?? 0) > 1) return 'embedding and ranking stand alone in modalities.out';
  if (families[task ?? 'text'] !== null) return null;
  if (task !== null) return `a provider of kind ${kind} has no models for modalities.out ${out?.join(', ')}`;
  return `a provider of kind ${kind} has models for modalities.out [embedding] or [ranking] only`;
}
