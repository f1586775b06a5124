// What may be asked in place of an answer to messages, and what comes back (decisions 4.4).

/** What embedded texts are for; families name it in their own words (4.4 `input_type`). */
export type InputType = 'query' | 'document' | 'classification' | 'clustering';

/** Vectors of texts. */
export interface EmbedTask {
  readonly kind: 'embed';
  /** 1..2048 texts, or the token ids of texts. */
  readonly input: readonly (string | readonly number[])[];
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
