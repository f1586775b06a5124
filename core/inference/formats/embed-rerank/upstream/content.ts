// Writes the texts and images of one input in the format of each provider that accepts them.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EmbedPart } from '../../../canonical/types.ts';

export type ContentForm = 'cohere' | 'voyage' | 'jina' | 'gemini';

/**
 * `parts` as `form` writes them. Images are bytes by now (`inlines`). @see the four providers' references for
 * embeddings.
 */
export function contentOf(parts: readonly EmbedPart[], form: ContentForm): JsonObject[] {
  return parts.map((part) => partOf(part, form));
}

function partOf(part: EmbedPart, form: ContentForm): JsonObject {
  if (part.type === 'text') {
    return form === 'cohere' || form === 'voyage' ? { type: 'text', text: part.text } : { text: part.text };
  }
  const { src } = part;
  if (!('base64' in src)) throw new Error('an image by address was not fetched');
  const { base64, media_type } = src;
  const url = `data:${media_type};base64,${base64}`;
  switch (form) {
    case 'cohere':
      return { type: 'image_url', image_url: { url } };
    case 'voyage':
      return { type: 'image_base64', image_base64: url };
    case 'jina':
      return { image: base64 };
    case 'gemini':
      return { inlineData: { mimeType: media_type, data: base64 } };
  }
}
