// What becomes of each member of the canonical form in a format, as tables that must name every one of them: a kind of
// part or event, or a member of one or of the request, that is added to the form does not compile until each format says
// what it does with it. test/fidelity/coverage.test.ts shows that what the tables say is true. The members of
// `Generation` and `OutputPreferences` have rules instead (`parameters.ts`, `preferences.ts`).
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

/** `sent`: by every endpoint that takes it, a loss at others. `lost`: never sent, and a loss. `unasked`: asks for nothing. */
export type InRequest = 'sent' | 'lost' | 'unasked';

/** `shown`: in the answer. `lost`: not in the answer, which carries a warning. `hidden`: nothing that callers are owed. */
export type InAnswer = 'shown' | 'lost' | 'hidden';

/** Members that the call acts on itself, that say how the request was read, or that have tables of their own. */
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
    );

type Table<T, V> = { readonly [K in keyof T]-?: V };
/** The members of all kinds of a union. */
type Members<U, V> = { readonly [K in U extends unknown ? keyof U : never]: V };
type OfParts<V> = { readonly [P in Part as P['type']]: Table<Omit<P, 'type' | 'cache' | 'ext'>, V> };

/** Everything that a request can ask of a provider. */
export interface OfRequest<V> extends OfParts<V> {
  readonly request: Table<Omit<CanonicalRequest, OfTheCall>, V>;
  readonly cache: Table<NonNullable<CanonicalRequest['cache']>, V>;
  readonly anthropic: Table<NonNullable<CanonicalRequest['anthropic']>, V>;
  readonly reasoning_preferences: Table<ReasoningPreferences, V>;
  readonly choice: Members<ToolChoice, V> & { readonly [K in ToolChoice['type']]: V };
  readonly tool: Table<Omit<Tool, 'kind'>, V> & { readonly [K in Tool['kind']]: V };
  readonly message: Table<Omit<Message, 'content'>, V>;
  /** What parts of every kind may have. */
  readonly part: Table<Pick<Part, 'cache' | 'ext'>, V>;
  readonly source: Members<MediaSource, V>;
}

type OfEvents<V> = {
  readonly [E in CanonicalEvent as `on_${E['type']}`]: Table<Omit<E, 'type' | 'candidate' | 'part'>, V>;
};

/** Everything that a provider can answer, with a row for each kind of event and of part. */
export interface OfAnswer<V> extends OfParts<V>, OfEvents<V> {
  readonly stop: Table<Stop, V>;
}
