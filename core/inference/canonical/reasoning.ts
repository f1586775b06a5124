// Reasoning state, effort and tool-call ids across families (docs/fidelity.md#effort-and-budget,
// docs/fidelity.md#reasoning-state).
import { isObject, type JsonObject, sha256 } from '../../kernel/index.ts';
import type { Effort, ReasoningFormat, ReasoningPart, ToolCallPart } from './types.ts';

/** Reasoning state of a family whose form the dialect cannot carry natively. */
export interface ForeignState {
  f: ReasoningFormat;
  /** Upstream model that made it. */
  m: string;
  /** Signature. */
  s?: string;
  /** Opaque data. */
  d?: string;
  /** Item id. */
  i?: string;
  /** Tool-call id it belongs to. */
  t?: string;
}

const PREFIX = 'svc1.';
const FORMATS: readonly string[] = [
  'anthropic-claude-v1',
  'openai-responses-v1',
  'google-gemini-v1',
  'unknown',
];

/** A reasoning format by its wire name; names we do not know are `unknown`. */
export function reasoningFormat(name: unknown): ReasoningFormat {
  return typeof name === 'string' && FORMATS.includes(name) ? (name as ReasoningFormat) : 'unknown';
}

/** `svc1.` and base64url of the state. */
export function wrapState(state: ForeignState): string {
  return PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** Whether `text` claims to be an envelope of ours. */
export function isWrapped(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The state in an envelope; null when `text` is not one, or a damaged one (then it is of no use to anybody). */
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

/** The format whose state `encrypted_content` of a responses item carries without an envelope. */
export const RESPONSES_FORMAT = 'openai-responses-v1';

/**
 * `encrypted_content` of the responses item for `part`, which `model` (upstream's name) made: its own family's state
 * as it is, any other's in an envelope; null when there is none to send back.
 */
export function encryptedContent(part: ReasoningPart, model: string): string | null {
  const { signature, data, format } = part;
  if (format === RESPONSES_FORMAT && data !== undefined) return data;
  // Thoughts of a known format go back to their family without a signature too.
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

/** Envelope that carries the signature of tool call `id`, in a reasoning item of its own. */
export function callEnvelope(part: ToolCallPart, id: string, model: string): string {
  return wrapState({ f: part.format ?? 'unknown', m: model, s: part.signature ?? '', t: id });
}

type ItemKind = 'rs' | 'msg' | 'fc' | 'ctc' | 'item';

/** Id of output item `n` of a response that is ours: unique across turns, as clients index by it. */
export function itemId(kind: ItemKind, request_id: string, n: number): string {
  return `${kind}_${request_id}_${n}`;
}

/** Share of the output cap that each effort may think (OpenRouter's ratios), ascending. */
const RATIOS: readonly (readonly [Exclude<Effort, 'none'>, number])[] = [
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', 0.95],
  ['max', 0.95],
];

/** Thinking tokens for `effort` under an output cap of `max_tokens`: within 1,024 and 128,000; 0 for `none`. */
export function effortToBudget(effort: Effort, max_tokens: number): number {
  if (effort === 'none') return 0;
  const ratio = RATIOS.find(([name]) => name === effort)?.[1] ?? 0.5;
  return Math.min(128_000, Math.max(1_024, Math.floor(max_tokens * ratio)));
}

/** The smallest effort whose share of `max_tokens` covers `budget` tokens; `none` for 0. */
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

/** `id` when the target's pattern takes it, else a base62 prefix of its SHA-256: the same for call and result. */
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
