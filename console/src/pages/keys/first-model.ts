// A model for a snippet, of the gateway's own list. Pure.

export interface Listed {
  readonly id: string;
  readonly modalities?: { readonly out?: readonly string[] };
}

/** The first that writes text, of models as the gateway lists them; null without one. Pure. */
export function firstOf(models: readonly Listed[]): string | null {
  const writes = ({ id, modalities }: Listed) =>
    !id.startsWith('sandbox/') && (modalities?.out ?? ['text']).includes('text');
  return models.find(writes)?.id ?? null;
}
