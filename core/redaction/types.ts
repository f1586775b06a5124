// The settings and the result of redaction (docs/data-policy.md#redaction).

/** In the order in which they are applied; matches of an earlier one are not looked into by a later one. */
export const presets = ['api_key', 'email', 'card', 'aadhaar', 'pan', 'phone'] as const;
export type Preset = (typeof presets)[number];

/** `data_policy.redact` of an organization; plain data, so that it can go to another thread. */
export interface RedactionSettings {
  readonly presets: readonly Preset[];
  /** RE2 syntax. */
  readonly patterns: readonly string[];
}

export interface Redacted {
  readonly text: string;
  /** Matches replaced. */
  readonly redactions: number;
  /** Characters dropped because the call's budget was used up. */
  readonly unscanned: number;
}

/** Finds what one preset or pattern means in `text`: start and end of each match in order, flat; null for none. */
export type Scan = (text: string) => number[] | null;

/** How many patterns an organization may have, and how long one may be. */
export const PATTERNS_MAX = 20;
export const PATTERN_LENGTH_MAX = 256;
/** Characters (UTF-16 units) that are looked at in one call; what lies behind is dropped. */
export const BUDGET_CHARACTERS = 1_048_576;
