// What the matrix is made of: a feature, how each dialect says it, and what becomes of it at each family.
import type { Family } from '../../core/inference/canonical/types.ts';

/** Dialects that ask for an answer, in the order of the page's columns. */
export const DIALECTS = ['chat', 'responses', 'messages', 'completions', 'native'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Families that answer; `sandbox` reads the canonical form and is exact everywhere, which is a test and no column. */
export const FAMILIES = [
  'openai_chat',
  'openai_responses',
  'anthropic_messages',
  'gemini',
  'bedrock_converse',
] as const satisfies readonly Family[];
export type GenerationFamily = (typeof FAMILIES)[number];

/** Where caller and provider speak the same wire, and the caller's own bytes go up. */
export const RAW: Readonly<Partial<Record<Dialect, GenerationFamily>>> = {
  chat: 'openai_chat',
  responses: 'openai_responses',
  messages: 'anthropic_messages',
};

export type Json = Record<string, unknown>;

/** A feature in one dialect: the field as the page names it, and members that go over the smallest body. */
export interface Asked {
  readonly field: string;
  readonly body: Json;
}

/** What becomes of a feature at a family. */
export interface Cell {
  /** Must be in the body sent (as `toMatchObject`). */
  readonly wire?: Json;
  /** Text that may not be in the body sent. */
  readonly gone?: readonly string[];
  /** `class:code`, in order; none: exact. */
  readonly lost?: readonly string[];
  /** Exact but by other means than the caller's, in a few words for the page. */
  readonly as?: string;
}

/** `cell` on an ordinary endpoint; `listed` on one whose catalog entry lists everything optional. */
export type Outcome = Cell & { readonly listed?: Cell };

export interface Feature {
  readonly name: string;
  readonly says: Readonly<Partial<Record<Dialect, Asked>>>;
  readonly at: Readonly<Record<GenerationFamily, Outcome>>;
  /** In the raw lane, where the endpoint itself loses something or the dialect cannot say all of it. */
  readonly raw?: Readonly<Partial<Record<Dialect, Outcome>>>;
  /** A sentence under the table. */
  readonly note?: string;
}

export interface Group {
  readonly title: string;
  readonly features: readonly Feature[];
}

export function asked(field: string, body: Json): Asked {
  return { field, body };
}
