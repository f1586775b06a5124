// How the providers of embeddings and rankings differ, as one table by kind of provider.
import type { Target } from '../../../canonical/contract.ts';
import type { InputType } from '../../../canonical/types.ts';

export type WireName = 'openai' | 'cohere' | 'jina' | 'voyage' | 'gemini';

export interface Wire {
  readonly name: WireName;
  /** The provider's names for what texts are used for; a use without a name cannot be expressed. */
  readonly input_types: Readonly<Partial<Record<InputType, string>>>;
  /** Most texts per call. */
  readonly inputs_max: number;
  /** Accepts token ids. */
  readonly tokens: boolean;
  /** Whether an input may contain images: not at all, alone, or mixed with texts and other images. */
  readonly images: 'none' | 'alone' | 'mixed';
  /** Accepts members that we do not know. */
  readonly open: boolean;
}

const wires: Readonly<Record<WireName, Wire>> = {
  openai: {
    name: 'openai',
    input_types: {
      query: 'query',
      document: 'document',
      classification: 'classification',
      clustering: 'clustering',
    },
    inputs_max: 2_048,
    tokens: true,
    images: 'none',
    open: true,
  },
  cohere: {
    name: 'cohere',
    input_types: {
      query: 'search_query',
      document: 'search_document',
      classification: 'classification',
      clustering: 'clustering',
    },
    inputs_max: 96,
    tokens: false,
    images: 'mixed',
    open: false,
  },
  jina: {
    name: 'jina',
    input_types: {
      query: 'retrieval.query',
      document: 'retrieval.passage',
      classification: 'classification',
      clustering: 'separation',
    },
    inputs_max: 2_048,
    tokens: false,
    images: 'alone',
    open: true,
  },
  voyage: {
    name: 'voyage',
    input_types: { query: 'query', document: 'document' },
    inputs_max: 1_000,
    tokens: false,
    images: 'mixed',
    open: true,
  },
  gemini: {
    name: 'gemini',
    input_types: {
      query: 'RETRIEVAL_QUERY',
      document: 'RETRIEVAL_DOCUMENT',
      classification: 'CLASSIFICATION',
      clustering: 'CLUSTERING',
    },
    inputs_max: 100,
    tokens: false,
    images: 'mixed',
    open: false,
  },
};

const wireOfKind: Readonly<Record<string, WireName | undefined>> = {
  cohere: 'cohere',
  jina: 'jina',
  voyage: 'voyage',
  gemini: 'gemini',
};

/** The format of `target`; an unknown one is compatible with OpenAI. */
export function wireOf(target: Pick<Target, 'kind'>): Wire {
  return wires[(target.kind === undefined ? undefined : wireOfKind[target.kind]) ?? 'openai'];
}

/** Whether `target` supports the optional `parameter`, according to its catalog entry. */
export function takes(target: Target, parameter: string): boolean {
  return target.capabilities.parameters.includes(parameter);
}

/** The provider's name for `input_type`; null when it has none. OpenAI itself has none: the catalog must list it. */
export function inputTypeOn(target: Target, input_type: InputType | undefined): string | null {
  if (input_type === undefined) return null;
  const wire = wireOf(target);
  if (wire.name === 'openai' && !takes(target, 'input_type')) return null;
  return wire.input_types[input_type] ?? null;
}
