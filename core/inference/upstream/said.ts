// What a provider says of a refusal, as it may be shown: to a caller, or to the owner of the key.
import { isObject } from '../../kernel/index.ts';

const SHOWN_MAX = 2_000;
/** What is read of a provider's text; longer ones are cut again when they are shown. */
const READ_MAX = 10_000;
const DEPTH_MAX = 4;
const ITEMS_MAX = 10;
/** `message` of most, also within `error`; `Message` of AWS; `detail` of servers on FastAPI, with `msg` in each item. */
const NAMES = ['message', 'Message', 'detail', 'msg'];
/** Shorter parts of a secret may be ordinary words and are not redacted. */
const SECRET_PART_MIN = 8;

const SECRETS = [
  /\b(?:sk|pk|rk|svc|gsk|xai|key|org|proj|req|acct|user)[-_][A-Za-z0-9_-]{6,}/g,
  /\barn:aws[a-z-]*:[^\s"'<>)]+/g,
  /\b(?:AKIA|ASIA|ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{8,}/g,
  /\bhttps?:\/\/[^\s"'<>)]+/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
];

/** A provider's text with keys, account ids, addresses and request ids replaced; at most 2,000 characters. */
export function redact(text: string): string {
  let clean = text;
  for (const pattern of SECRETS) clean = clean.replace(pattern, '[redacted]');
  return clean.length > SHOWN_MAX ? `${clean.slice(0, SHOWN_MAX)}…` : clean;
}

/** `secret`, and those parts of it that would reveal something by themselves; none of an empty one. */
export function secretParts(secret: string): readonly string[] {
  if (secret === '') return [];
  return [secret, ...secret.split(':').filter(({ length }) => length >= SECRET_PART_MIN)];
}

/** `text` with every occurrence of `parts` replaced. */
export function withoutParts(text: string, parts: readonly string[]): string {
  return parts.reduce((hidden, part) => hidden.replaceAll(part, '[redacted]'), text);
}

function wordsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  // What is nested deeper is no sentence, and might be nested to overflow the stack.
  if (depth === DEPTH_MAX) return '';
  if (Array.isArray(value)) {
    const items = value.slice(0, ITEMS_MAX).map((item) => wordsOf(item, depth + 1));
    return items.filter((item) => item !== '').join('; ');
  }
  if (!isObject(value)) return '';
  for (const name of isObject(value['error']) ? ['error', ...NAMES] : [...NAMES, 'error']) {
    const found = wordsOf(value[name], depth + 1);
    if (found !== '') return found;
  }
  return '';
}

/**
 * The sentence in the body of a refusal, on one line, without `secret` and what `redact` takes away; null where there is
 * none. A page of HTML, which proxies send, says nothing.
 */
export function saidOf(body: string, secret: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  const words = withoutParts(wordsOf(value), secretParts(secret));
  const line = words
    .slice(0, READ_MAX)
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return line === '' ? null : redact(line);
}
