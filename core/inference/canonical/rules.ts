// What becomes of a caller's preferences at a provider. A format says it once for each preference, in a table by the members of
// the canonical form; what is sent and what is reported as lost are both read from that table. A preference without a rule
// does not compile, and a rule cannot both send nothing and report nothing.
import type { Loss } from './types.ts';

/** Why a preference is not met; class and code of its row unless a rule has others. */
export interface Reported {
  readonly message: string;
  readonly class?: Loss['class'];
  readonly code?: string;
  readonly param?: string;
}

/** A member of the provider's body, as a path with dots, and its value. */
export type Member = readonly [path: string, value: unknown];

/** Sent, with a loss beside it where it is sent changed; lost; or done here without being asked for. */
export type Fate =
  | { readonly send: readonly [Member, ...Member[]]; readonly reported?: Reported | undefined }
  | { readonly lost: Reported | readonly [Reported, ...Reported[]] }
  | typeof UNASKED;

/** The endpoint does what is asked for without being told to, so nothing is sent and nothing is lost. */
export const UNASKED = { unasked: true } as const;

/** What becomes of a preference of type `V`, where `F` is what the format knows of request and endpoint. */
export interface Rule<V, F> {
  /** Members of the provider's body that it can become; none where no endpoint of the format takes it. */
  readonly members: readonly string[];
  decide(value: V, facts: F): Fate;
}

export type Rules<T, F> = { readonly [K in keyof T]-?: Rule<NonNullable<T[K]>, F> };

/** What holds of a preference wherever it goes. */
export interface Row<V> {
  readonly loss: Pick<Loss, 'class' | 'code' | 'param'>;
  isDefault?(value: V): boolean;
}

export type Rows<T> = { readonly [K in keyof T]-?: Row<NonNullable<T[K]>> };

/** The fate of all members of `preferences`, in the order of `rules`. */
export interface Outcome {
  readonly sent: ReadonlyMap<string, unknown>;
  readonly losses: readonly Loss[];
}

/** What becomes of all `preferences` by the format's `rules`; encoding reads `sent`, the list of losses `losses`. */
export function decide<T extends object, F>(
  rows: Rows<T>,
  rules: Rules<T, F>,
  preferences: T,
  facts: F,
): Outcome {
  const sent = new Map<string, unknown>();
  const losses: Loss[] = [];
  for (const name of Object.keys(rules) as (keyof T)[]) {
    const value = preferences[name];
    if (value === undefined || value === null) continue;
    const { loss, isDefault } = rows[name];
    if (isDefault?.(value) === true) continue;
    const fate = rules[name].decide(value, facts);
    if ('send' in fate) for (const [path, member] of fate.send) sent.set(path, member);
    for (const reported of reportedOf(fate)) losses.push({ ...loss, ...reported });
  }
  return { sent, losses };
}

function reportedOf(fate: Fate): readonly Reported[] {
  if ('lost' in fate) return 'message' in fate.lost ? [fate.lost] : fate.lost;
  return 'send' in fate && fate.reported !== undefined ? [fate.reported] : [];
}

/** Sent as `member`, changed by `change`. */
export function as<V>(member: string, change?: (value: V) => unknown): Rule<V, unknown> {
  return {
    members: [member],
    decide: (value) => ({ send: [[member, change === undefined ? value : change(value)]] }),
  };
}

/** No endpoint of the format has a place for it. */
export function lost(message: string, reported: Omit<Reported, 'message'> = {}): Rule<unknown, unknown> {
  return { members: [], decide: () => ({ lost: { message, ...reported } }) };
}

/** As `rule` says where `met` holds, else lost. */
export function where<V, F>(
  met: (facts: F, value: V) => boolean,
  rule: Rule<V, F>,
  message: string,
): Rule<V, F> {
  return {
    members: rule.members,
    decide: (value, facts) => (met(facts, value) ? rule.decide(value, facts) : { lost: { message } }),
  };
}

/** What of `sent` stands below `parent`, by its names there, as JSON texts. */
export function textsBelow(sent: ReadonlyMap<string, unknown>, parent: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [path, value] of sent) {
    if (path.startsWith(`${parent}.`)) texts.set(path.slice(parent.length + 1), JSON.stringify(value));
  }
  return texts;
}
