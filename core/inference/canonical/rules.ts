// What a format does with each of a caller's preferences, as a table with one rule per member of the canonical form.
// Both what is sent and what is reported as lost come from that table. A preference without a rule does not compile,
// and no rule can both send nothing and report nothing.
import type { Loss } from './types.ts';

/** Why a preference is not met; class and code are those of its row unless the rule gives others. */
export interface Reported {
  readonly message: string;
  readonly class?: Loss['class'];
  readonly code?: string;
  readonly param?: string;
}

/** A member of the provider's body as a dotted path, and its value. */
export type Member = readonly [path: string, value: unknown];

/** What happens to a preference: sent (with a loss if it was changed), lost, or already the endpoint's behaviour. */
export type Fate =
  | { readonly send: readonly [Member, ...Member[]]; readonly reported?: Reported | undefined }
  | { readonly lost: Reported | readonly [Reported, ...Reported[]] }
  | typeof UNASKED;

/** The endpoint does this by default, so nothing is sent and nothing is lost. */
export const UNASKED = { unasked: true } as const;

/** What happens to a preference of type `V`; `F` is what the format knows about request and endpoint. */
export interface Rule<V, F> {
  /** Members of the provider's body that it may become; empty when no endpoint of the format supports it. */
  readonly members: readonly string[];
  decide(value: V, facts: F): Fate;
}

export type Rules<T, F> = { readonly [K in keyof T]-?: Rule<NonNullable<T[K]>, F> };

/** What is the same about a preference for all formats. */
export interface Row<V> {
  readonly loss: Pick<Loss, 'class' | 'code' | 'param'>;
  isDefault?(value: V): boolean;
}

export type Rows<T> = { readonly [K in keyof T]-?: Row<NonNullable<T[K]>> };

/** What happens to all members of `preferences`, in the order of `rules`. */
export interface Applied {
  readonly sent: ReadonlyMap<string, unknown>;
  readonly losses: readonly Loss[];
}

/** Applies the format's `rules` to all `preferences`. Encoding uses `sent`, the list of losses uses `losses`. */
export function applyRules<T extends object, F>(
  rows: Rows<T>,
  rules: Rules<T, F>,
  preferences: T,
  facts: F,
): Applied {
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

/** Sent as `member`; `change` converts the value. */
export function as<V>(member: string, change?: (value: V) => unknown): Rule<V, unknown> {
  return {
    members: [member],
    decide: (value) => ({ send: [[member, change === undefined ? value : change(value)]] }),
  };
}

/** No endpoint of the format supports it. */
export function lost(message: string, reported: Omit<Reported, 'message'> = {}): Rule<unknown, unknown> {
  return { members: [], decide: () => ({ lost: { message, ...reported } }) };
}

/** `rule` applies where `met` returns true; otherwise the preference is lost. */
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

/** The members of `sent` below `parent`, by their names there, as JSON texts. */
export function textsBelow(sent: ReadonlyMap<string, unknown>, parent: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [path, value] of sent) {
    if (path.startsWith(`${parent}.`)) texts.set(path.slice(parent.length + 1), JSON.stringify(value));
  }
  return texts;
}
