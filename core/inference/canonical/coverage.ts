// Tables that say what a format does with each member of the canonical form. When a kind of part or event, or a
// member of one or of the request, is added to the form, no format compiles until its table has a row for it.
// test/fidelity/coverage.test.ts shows that the tables are true. The members of `Generation` and `OutputPreferences`
// have rules instead (`parameters.ts`, `preferences.ts`).
import type {
  CanonicalEvent,
  CanonicalRequest,
  MediaSource,
  Message,
  Part,
  ReasoningPreferences,
  Stop,
  Tool,
  ToolChoice,
} from './types.ts';

/**
 * `sent`: sent to every endpoint that accepts it, a loss on others. `lost`: never sent, always a loss. `unasked`:
 * requests nothing.
 */
export type InRequest = 'sent' | 'lost' | 'unasked';

/**
 * `shown`: in the answer. `lost`: not in the answer, which has a warning instead. `hidden`: nothing that callers
 * need.
 */
export type InAnswer = 'shown' | 'lost' | 'hidden';

/** Members that the call itself uses, that say how the request was read, or that have tables of their own. */
type OfTheCall =
  | (
      | 'model'
      | 'paths'
      | 'words'
      | 'task'
      | 'stream'
      | 'include_usage'
      | 'svc'
      | 'dialect'
      | 'legacy_functions'
    )
  | (
      | 'echo'
      | 'warnings'
      | 'messages'
      | 'tools'
      | 'generation'
      | 'output'
      | 'reasoning'
      | 'cache'
      | 'anthropic'
      | 'context_edits'
      | 'namespaces'
    );

type Table<T, V> = { readonly [K in keyof T]-?: V };
/** The members that any kind of the union has. */
type Members<U, V> = { readonly [K in U extends unknown ? keyof U : never]: V };
type OfParts<V> = { readonly [P in Part as P['type']]: Table<Omit<P, 'type' | 'cache' | 'ext'>, V> };

/** Everything that a request can ask of a provider. */
export interface OfRequest<V> extends OfParts<V> {
  readonly request: Table<Omit<CanonicalRequest, OfTheCall>, V>;
  readonly cache: Table<NonNullable<CanonicalRequest['cache']>, V>;
  readonly anthropic: Table<NonNullable<CanonicalRequest['anthropic']>, V>;
  readonly reasoning_preferences: Table<ReasoningPreferences, V>;
  readonly choice: Members<ToolChoice, V> & { readonly [K in ToolChoice['type']]: V };
  readonly tool: Table<Omit<Tool, 'kind' | 'path' | 'by_caller'>, V> & { readonly [K in Tool['kind']]: V };
  readonly message: Table<Omit<Message, 'content'>, V>;
  /** Members that parts of every kind may have. */
  readonly part: Table<Pick<Part, 'cache' | 'ext'>, V>;
  readonly source: Members<MediaSource, V>;
}

type OfEvents<V> = {
  readonly [E in CanonicalEvent as `on_${E['type']}`]: Table<Omit<E, 'type' | 'candidate' | 'part'>, V>;
};

/** Everything that a provider can answer: each kind of event and of part has a row. */
export interface OfAnswer<V> extends OfParts<V>, OfEvents<V> {
  readonly stop: Table<Stop, V>;
}
