// Reasoning state, effort and tool-call ids across families (docs/fidelity.md#effort-and-budget,
// docs/fidelity.md#reasoning-state).
import { isObject, type JsonObject, sha256 } from '../../kernel/index.ts';
import type { Effort, ReasoningFormat, ReasoningPart, ToolCallPart } from './types.ts';

/**
 * Reasoning state of a family that the caller's dialect has no native form for. Member names are short because the
 * envelope travels with every turn.
 */
export interface ForeignState {
  f: ReasoningFormat;
  /** The upstream model that produced it. */
  m: string;
  /** Signature. */
  s?: string;
  /** Opaque data. */
  d?: string;
  /** Item id. */
  i?: string;
  /** Id of the tool call that it belongs to. */
  t?: string;
}

const PREFIX = 'svc1.';
const FORMATS: readonly string[] = [
  'anthropic-claude-v1',
  'openai-responses-v1',
  'google-gemini-v1',
  'unknown',
];

/** The reasoning format with this wire name; `unknown` for a name that we do not know. */
export function reasoningFormat(name: unknown): ReasoningFormat {
  return typeof name === 'string' && FORMATS.includes(name) ? (name as ReasoningFormat) : 'unknown';
}

/** The envelope of `state`: `svc1.` and base64url. */
export function wrapState(state: ForeignState): string {
  return PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** Whether `text` looks like an envelope of ours. */
export function isWrapped(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The state in an envelope; null when `text` is not an envelope or a damaged one, which nobody can use. */
export function unwrapState(text: string): ForeignState | null {
  if (!isWrapped(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(value) || typeof value['m'] !== 'string') return null;
  const state: ForeignState = { f: reasoningFormat(value['f']), m: value['m'] };
  for (const key of ['s', 'd', 'i', 't'] as const) {
    const member = (value as JsonObject)[key];
    if (typeof member === 'string') state[key] = member;
  }
  return state;
}

/** The format whose state a responses item carries in `encrypted_content` without an envelope. */
export const RESPONSES_FORMAT = 'openai-responses-v1';

/**
 * `encrypted_content` of the responses item for `part`, which the upstream model `model` produced: state of this
 * dialect's own family unchanged, other state in an envelope, null when there is none.
 */
export function encryptedContent(part: ReasoningPart, model: string): string | null {
  const { signature, data, format } = part;
  if (format === RESPONSES_FORMAT && data !== undefined) return data;
  // Reasoning of a known format is sent back to its family even without a signature.
  const nameless = format === 'unknown' || format === RESPONSES_FORMAT;
  if (nameless && (signature ?? '') === '' && (data ?? '') === '') return null;
  return wrapState({
    f: format,
    m: model,
    ...(signature === undefined ? {} : { s: signature }),
    ...(data === undefined ? {} : { d: data }),
    ...(part.id === undefined ? {} : { i: part.id }),
  });
}

/** Envelope with the signature of tool call `id`, for a reasoning item of its own. */
export function callEnvelope(part: ToolCallPart, id: string, model: string): string {
  return wrapState({ f: part.format ?? 'unknown', m: model, s: part.signature ?? '', t: id });
}

type ItemKind = 'rs' | 'msg' | 'fc' | 'ctc' | 'item';

/** Id of output item `n` of one of our responses. Unique across turns, because clients index items by it. */
export function itemId(kind: ItemKind, request_id: string, n: number): string {
  return `${kind}_${request_id}_${n}`;
}

/** Share of the output cap that each effort may use for reasoning (OpenRouter's ratios), ascending. */
const RATIOS: readonly (readonly [Exclude<Effort, 'none'>, number])[] = [
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', 0.95],
  ['max', 0.95],
];

/** Reasoning tokens for `effort` with an output cap of `max_tokens`: between 1,024 and 128,000; 0 for `none`. */
export function effortToBudget(effort: Effort, max_tokens: number): number {
  if (effort === 'none') return 0;
  const ratio = RATIOS.find(([name]) => name === effort)?.[1] ?? 0.5;
  return Math.min(128_000, Math.max(1_024, Math.floor(max_tokens * ratio)));
}

/** The lowest effort whose share of `max_tokens` covers `budget` tokens; `none` for 0. */
export function budgetToEffort(budget: number, max_tokens: number): Effort {
  if (budget <= 0) return 'none';
  for (const [name] of RATIOS) if (effortToBudget(name, max_tokens) >= budget) return name;
  return 'max';
}

export type IdRule = 'anthropic' | 'openai' | 'mistral';

const RULES: Record<IdRule, { fits: RegExp; length: number }> = {
  anthropic: { fits: /^[a-zA-Z0-9_-]{1,64}$/, length: 40 },
  openai: { fits: /^[\s\S]{1,64}$/, length: 40 },
  mistral: { fits: /^[a-zA-Z0-9]{9}$/, length: 9 },
};

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * `id` when it matches the target's pattern, otherwise a base62 prefix of its SHA-256, so that call and result still
 * match.
 */
export function fitToolCallId(id: string, rule: IdRule): string {
  const { fits, length } = RULES[rule];
  if (fits.test(id)) return id;
  let number = BigInt(`0x${sha256(id).toString('hex')}`);
  let text = '';
  while (text.length < length) {
    text += BASE62[Number(number % 62n)];
    number /= 62n;
  }
  return text;
}
