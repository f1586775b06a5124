// Tasks other than answering messages, and their results.

/** What the embedded texts are used for; each family has its own names for these. */
export type InputType = 'query' | 'document' | 'classification' | 'clustering';

/** An image to embed. */
export type EmbedImage = { base64: string; media_type: string } | { url: string; media_type?: string };
export type EmbedPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly src: EmbedImage };

/** Texts and images that together have one vector (native dialect only). */
export interface EmbedContent {
  readonly content: readonly EmbedPart[];
}

/** What gets one vector: a text, a text as token ids, or content with images. */
export type EmbedInput = string | readonly number[] | EmbedContent;

/** Asks for vectors of texts and images. */
export interface EmbedTask {
  readonly kind: 'embed';
  /** 1 to 2,048 inputs. */
  readonly input: readonly EmbedInput[];
  /** The caller sent one input instead of a list. */
  readonly single: boolean;
  readonly input_type?: InputType;
  readonly dimensions?: number;
  /** Encoding of the vectors in the answer. */
  readonly encoding: 'float' | 'base64';
}

/** Asks for documents in the order of their relevance to a query. */
export interface RerankTask {
  readonly kind: 'rerank';
  readonly query: string;
  /** 1 to 1,000 documents. */
  readonly documents: readonly string[];
  /** 1 to the number of documents. */
  readonly top_n: number;
  readonly return_documents: boolean;
}

export type Task = EmbedTask | RerankTask;

/** A vector in the provider's own spelling, so that no number is rounded. */
export interface Vector {
  /** Form of `text`: a JSON array of numbers, or base64 of little-endian float32. */
  readonly form: 'float' | 'base64';
  readonly text: string;
  readonly dimensions: number;
}

export interface Ranked {
  /** Index of the document in the request. */
  readonly index: number;
  readonly relevance_score: number;
  /** Present when the request asked for the texts. */
  readonly document?: string;
}
