// Which rules of a policy a call meets, and what they ask together. Pure.
import type { Environment } from '../kernel/index.ts';
import { combine, type Effective, protectsAsMuch } from './combine.ts';
import { matchesGlob } from './language/glob.ts';
import { isWithin } from './language/time.ts';
import type { Actions, Match, MatchFlat, PolicyDialect, PolicyDocument, Rule } from './types.ts';

/** What of a call rules can ask for. */
export interface CallFacts {
  readonly model: string;
  readonly project_id: string;
  readonly key_id: string;
  readonly environment: Environment;
  readonly dialect: PolicyDialect;
  readonly modalities_in: readonly string[];
  readonly modalities_out: readonly string[];
  readonly stream: boolean;
  readonly has: {
    readonly tools: boolean;
    readonly json_schema: boolean;
    readonly images: boolean;
    readonly reasoning: boolean;
    readonly cache: boolean;
    readonly byok: boolean;
  };
  /** Upper estimate of the prompt. */
  readonly input_tokens: number;
  readonly max_tokens: number | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly app: string;
  readonly now_ms: number;
}

/** A policy version as a process holds it. */
export interface ActivePolicy {
  readonly name: string;
  readonly version: number;
  readonly document: PolicyDocument;
  readonly defaults: readonly Actions[];
  /** Endpoints whose canary was rolled back: they get no share any more. */
  readonly halted: ReadonlySet<string>;
  /** What sets of matching rules ask, by their places: worked out once each. */
  readonly combined: Map<string, Effective>;
}

/** What a policy says of one call. */
export interface Ruling {
  readonly policy: string;
  readonly version: number;
  /** Names of the rules that matched, in order, joined by `/`; `-` where none did. */
  readonly rule: string;
  readonly actions: Effective;
  /** The call is refused with this message. */
  readonly deny: string | null;
  /**
   * Of the fallback models that the request names, those of which the policy asks more than of the model it asks for:
   * as fallbacks they would slip past rules that are about them.
   */
  readonly barred_fallbacks: readonly string[];
}

const COMBINED_MAX = 256;
const DENIED = 'The routing policy does not allow this call.';

const NONE_HALTED: ReadonlySet<string> = new Set();

/** `document` ready to be asked; `halted` are the endpoints whose canary was rolled back. */
export function activePolicy(
  name: string,
  version: number,
  document: PolicyDocument,
  halted = NONE_HALTED,
): ActivePolicy {
  const defaults: Actions[] = [];
  if (document.sort !== undefined) defaults.push({ sort: document.sort });
  if (document.defaults !== undefined) defaults.push(document.defaults);
  return { name, version, document, defaults, halted, combined: new Map() };
}

function holds<T>(wanted: readonly T[] | undefined, found: T): boolean {
  return wanted === undefined || wanted.includes(found);
}

function meets<T>(wanted: readonly T[] | undefined, found: readonly T[]): boolean {
  return wanted === undefined || wanted.some((one) => found.includes(one));
}

function anyGlob(globs: readonly string[] | undefined, text: string): boolean {
  return globs === undefined || globs.some((glob) => matchesGlob(glob, text));
}

function inRange(range: MatchFlat['input_tokens'], value: number | null): boolean {
  if (range === undefined) return true;
  if (value === null) return false;
  return value >= (range.min ?? 0) && value <= (range.max ?? Number.POSITIVE_INFINITY);
}

function tagged(wanted: MatchFlat['metadata'], tags: CallFacts['metadata']): boolean {
  if (wanted === undefined) return true;
  return Object.entries(wanted).every(
    ([key, globs]) => Object.hasOwn(tags, key) && anyGlob(globs, tags[key] as string),
  );
}

function vendorOf(model: string): string {
  return model.slice(0, Math.max(0, model.indexOf('/')));
}

function meetsFlat(match: MatchFlat, facts: CallFacts): boolean {
  return (
    anyGlob(match.models, facts.model) &&
    (match.model === undefined || matchesGlob(match.model, facts.model)) &&
    holds(match.vendors, vendorOf(facts.model)) &&
    (match.vendor === undefined || match.vendor === vendorOf(facts.model)) &&
    holds(match.projects, facts.project_id) &&
    (match.project_id === undefined || match.project_id === facts.project_id) &&
    holds(match.keys, facts.key_id) &&
    (match.key_id === undefined || match.key_id === facts.key_id) &&
    holds(match.environments, facts.environment) &&
    holds(match.dialects, facts.dialect) &&
    (match.dialect === undefined || match.dialect === facts.dialect) &&
    meets<string>(match.modalities_in, facts.modalities_in) &&
    meets<string>(match.modalities_out, facts.modalities_out) &&
    (match.stream === undefined || match.stream === facts.stream) &&
    (match.has === undefined || match.has.some((what) => facts.has[what])) &&
    inRange(match.input_tokens, facts.input_tokens) &&
    inRange(match.max_tokens, facts.max_tokens) &&
    holds(match.apps, facts.app) &&
    tagged(match.metadata, facts.metadata) &&
    (match.time === undefined || isWithin(match.time, facts.now_ms))
  );
}

/** Whether every key that `match` gives holds of `facts`; a list holds where any of it does. */
export function matchesCall(match: Match, facts: CallFacts): boolean {
  return meetsFlat(match, facts) && (match.not === undefined || !meetsFlat(match.not, facts));
}

/**
 * The places of the rules that a call meets, top to bottom: the first without `continue` ends the search, and a `deny`
 * always does.
 */
function matchingRules(rules: readonly Rule[], facts: CallFacts): number[] {
  const found: number[] = [];
  for (const [i, rule] of rules.entries()) {
    if (!matchesCall(rule.match, facts)) continue;
    found.push(i);
    if (rule.continue !== true || rule.deny !== undefined) break;
  }
  return found;
}

const NO_FALLBACKS: readonly string[] = [];

/** What `policy` says of the call with `facts`, whose request names `fallback_models`. */
export function decide(
  policy: ActivePolicy,
  facts: CallFacts,
  fallback_models: readonly string[] = NO_FALLBACKS,
): Ruling {
  const ruled = rule(policy, facts);
  if (fallback_models.length === 0) return ruled;
  const barred_fallbacks = fallback_models.filter((model) => {
    const asked = rule(policy, { ...facts, model });
    return asked.deny !== null || !protectsAsMuch(ruled.actions, asked.actions);
  });
  return { ...ruled, barred_fallbacks };
}

/** `actions` with a canary that was rolled back at no share: the endpoint stays behind all others. */
function withoutHalted({ halted }: ActivePolicy, actions: Effective): Effective {
  const { canary } = actions;
  if (canary === undefined || !halted.has(canary.endpoint)) return actions;
  return { ...actions, canary: { ...canary, percent: 0 } };
}

function rule(policy: ActivePolicy, facts: CallFacts): Ruling {
  const rules = policy.document.rules ?? [];
  const matching = matchingRules(rules, facts);
  const key = matching.join();
  let actions = policy.combined.get(key);
  if (actions === undefined) {
    actions = withoutHalted(policy, combine([...policy.defaults, ...matching.map((i) => rules[i] as Rule)]));
    if (policy.combined.size >= COMBINED_MAX) policy.combined.clear();
    policy.combined.set(key, actions);
  }
  const last = rules[matching.at(-1) ?? -1];
  return {
    policy: policy.name,
    version: policy.version,
    rule: matching.length === 0 ? '-' : matching.map((i) => rules[i]?.name ?? `rules.${i}`).join('/'),
    actions,
    deny: last?.deny === undefined ? null : (last.deny.message ?? DENIED),
    barred_fallbacks: NO_FALLBACKS,
  };
}
