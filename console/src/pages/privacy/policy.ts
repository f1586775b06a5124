// The form of the data policy: what stands in it, what saving it would send, and what that does. Pure.
import type { Fault } from '../../api/errors.ts';
import type { RedactionPreset, UpdateDataPolicyDataPolicyInput } from '../../api/gen/tools/graphql.ts';

/** What redaction looks for, in the order in which it does. */
export const presetWords: Readonly<Record<string, string>> = {
  api_key: 'API keys',
  email: 'E-mail addresses',
  card: 'Card numbers',
  aadhaar: 'Aadhaar numbers',
  pan: 'Permanent account numbers',
  phone: 'Phone numbers',
};

/** As the API says it. */
export interface Policy {
  readonly logging: 'on' | 'off';
  readonly retention_days: number;
  readonly zdr: boolean;
  readonly no_train: boolean;
  readonly regions: readonly string[];
  readonly redact: { readonly presets: readonly string[]; readonly patterns: readonly string[] };
}

/** As it is typed: numbers and lists are text. */
export interface Draft {
  readonly logging: boolean;
  readonly days: string;
  readonly zdr: boolean;
  readonly no_train: boolean;
  readonly regions: string;
  readonly presets: ReadonlySet<string>;
  readonly patterns: string;
}

/** The policy in an answer of the API, where it is a value without a type. */
export function policyOf(value: unknown): Policy {
  const { redact, ...rest } = (value ?? {}) as Partial<Policy>;
  const standard = { logging: 'off', retention_days: 30, zdr: false, no_train: false, regions: [] } as const;
  return { ...standard, ...rest, redact: { presets: [], patterns: [], ...redact } };
}

export function draftOf({ logging, retention_days, zdr, no_train, regions, redact }: Policy): Draft {
  return {
    ...{ logging: logging === 'on', days: String(retention_days), zdr, no_train },
    regions: regions.join('\n'),
    ...{ presets: new Set(redact.presets), patterns: redact.patterns.join('\n') },
  };
}

/** A pattern over the API may have a line break, which a field with a pattern a line cannot show. */
export function hasLineBreaks({ redact }: Policy): boolean {
  return redact.patterns.some((pattern) => /[\r\n]/.test(pattern));
}

/** The redaction of `draft`, which was made of `policy`; what was not touched stays as it is, to the character. */
export function redactionOf(draft: Draft, policy: Policy): Policy['redact'] {
  const known = [...Object.keys(presetWords), ...policy.redact.presets];
  const presets = [...new Set(known)].filter((preset) => draft.presets.has(preset));
  const touched = draft.patterns !== draftOf(policy).patterns;
  // Spaces of a pattern are part of it.
  const patterns = touched
    ? draft.patterns.split('\n').filter((line) => line !== '')
    : policy.redact.patterns;
  return { presets, patterns };
}

/** The policy that `draft` stands for; null where its days are no number of days. */
export function readDraft(draft: Draft, policy: Policy): Policy | null {
  const days = draft.days.trim();
  if (!/^\d{1,3}$/.test(days) || Number(days) > 365) return null;
  const touched = draft.regions !== draftOf(policy).regions;
  const typed = draft.regions.split(/[\s,]+/).filter((region) => region !== '');
  return {
    logging: draft.logging ? 'on' : 'off',
    retention_days: Number(days),
    ...{ zdr: draft.zdr, no_train: draft.no_train },
    regions: touched ? [...new Set(typed)] : policy.regions,
    redact: redactionOf(draft, policy),
  };
}

const same = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((value, at) => value === other[at]);
const sameSet = (one: readonly string[], other: readonly string[]) => same(one.toSorted(), other.toSorted());

/** Presets as GraphQL names them. */
export const presetNames = (presets: readonly string[]) =>
  presets.map((preset) => preset.toUpperCase() as RedactionPreset);

/** What is sent to make `now` into `next`: what has changed alone, so that nothing else is written over. Null: nothing. */
export function changeOf(now: Policy, next: Policy): UpdateDataPolicyDataPolicyInput | null {
  const { presets, patterns } = next.redact;
  const redact = {
    ...(sameSet(presets, now.redact.presets) ? {} : { presets: presetNames(presets) }),
    ...(same(patterns, now.redact.patterns) ? {} : { patterns: [...patterns] }),
  };
  const change = {
    ...(next.logging === now.logging ? {} : { logging: next.logging }),
    ...(next.retention_days === now.retention_days ? {} : { retentionDays: next.retention_days }),
    ...(next.zdr === now.zdr ? {} : { zdr: next.zdr }),
    ...(next.no_train === now.no_train ? {} : { noTrain: next.no_train }),
    ...(sameSet(next.regions, now.regions) ? {} : { regions: [...next.regions] }),
    ...(Object.keys(redact).length === 0 ? {} : { redact }),
  };
  return Object.keys(change).length === 0 ? null : change;
}

/** What becomes of stored content. */
function effectsOnContent(now: Policy, next: Policy): string[] {
  const was_on = now.logging === 'on';
  if (next.logging === 'off')
    return was_on ? ['What is stored of calls is hidden at once and deleted within the hour.'] : [];
  if (next.retention_days === 0) {
    const known = was_on && now.retention_days === 0;
    return known ? [] : ['With 0 days nothing is stored, and what is stored is deleted.'];
  }
  if (was_on) {
    const shorter = next.retention_days < now.retention_days;
    return shorter ? ['What is stored for longer than that is deleted.'] : [];
  }
  const length = next.retention_days === 1 ? 'a day' : `${next.retention_days} days`;
  return next.zdr ? [] : [`What calls say is stored from now on, redacted, for ${length}.`];
}

/** Whether `next` lets calls go to fewer places than `now`. */
function isNarrower(now: Policy, next: Policy): boolean {
  const regions = next.regions.length > 0 && !sameSet(next.regions, now.regions);
  return (next.zdr && !now.zdr) || (next.no_train && !now.no_train) || regions;
}

/** What saving `next` in place of `now` does, in sentences. */
export function effectsOf(now: Policy, next: Policy): string[] {
  const gone = now.redact.presets.filter((preset) => !next.redact.presets.includes(preset));
  const names = gone.map((preset) => presetWords[preset] ?? preset);
  return [
    ...effectsOnContent(now, next),
    ...(next.zdr && !now.zdr ? ['Nothing that new calls say is stored here either.'] : []),
    ...(isNarrower(now, next) ? ['A call for which no endpoint is left is refused.'] : []),
    ...(gone.length > 0 ? [`No longer replaced: ${names.join(', ')}.`] : []),
  ];
}

export interface PolicyFaults {
  readonly days?: string;
  readonly regions?: string;
  readonly patterns?: string;
}

/** A refusal at the field that it is about; of the patterns that were sent it names the one. Null: of no field here. */
export function faultsOf({ field, message }: Fault, patterns: readonly string[]): PolicyFaults | null {
  const of_pattern = /\.patterns(?:\.(\d+))?$/.exec(field ?? '');
  if (of_pattern !== null) {
    const pattern = of_pattern[1] === undefined ? undefined : patterns[Number(of_pattern[1])];
    return { patterns: pattern === undefined ? message : `${pattern}: ${message}` };
  }
  if (/\.retentionDays$/.test(field ?? '')) return { days: message };
  if (/\.regions(?:\.\d+)?$/.test(field ?? '')) return { regions: message };
  return null;
}
