// What may be asked in place of an answer to messages, and what comes back.

/** What embedded texts are for; families name it in their own words. */
export type InputType = 'query' | 'document' | 'classification' | 'clustering';

/** Where an image stands whose vector is asked for. */
export type EmbedImage = { base64: string; media_type: string } | { url: string; media_type?: string };
export type EmbedPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly src: EmbedImage };

/** Texts and images, one or more, that have one vector together (native surface alone). */
export interface EmbedContent {
  readonly content: readonly EmbedPart[];
}

/** What has one vector: a text, the token ids of one, or content with images. */
export type EmbedInput = string | readonly number[] | EmbedContent;

/** Vectors of texts and images. */
export interface EmbedTask {
  readonly kind: 'embed';
  /** 1..2048. */
  readonly input: readonly EmbedInput[];
  /** The caller sent one input and not a list. */
  readonly single: boolean;
  readonly input_type?: InputType;
  readonly dimensions?: number;
  /** Form of the vectors in the answer. */
  readonly encoding: 'float' | 'base64';
}

/** Documents in the order of their relevance to a query. */
export interface RerankTask {
  readonly kind: 'rerank';
  readonly query: string;
  /** 1..1000. */
  readonly documents: readonly string[];
  /** 1..number of documents. */
  readonly top_n: number;
  readonly return_documents: boolean;
}

export type Task = EmbedTask | RerankTask;

/** A vector as its provider spelt it, so that no number is rounded on the way. */
export interface Vector {
  /** JSON text of an array of numbers, or base64 of little-endian float32. */
  readonly form: 'float' | 'base64';
  readonly text: string;
  readonly dimensions: number;
}

export interface Ranked {
  /** Place of the document in the request. */
  readonly index: number;
  readonly relevance_score: number;
  /** Where the request asked for the texts. */
  readonly document?: string;
}
