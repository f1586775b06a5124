// Secrets of endpoints and the signatures made with them (Standard Webhooks 1.0).
// @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { Webhook } from 'standardwebhooks';
import { openColumn, type RootKeyRing, sealColumn, secureBytes } from '../kernel/index.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 24;

/** A fresh secret: `whsec_` and 24 random bytes in base64. */
export function newWebhookSecret(): string {
  return PREFIX + secureBytes(SECRET_BYTES).toString('base64');
}

/** The part of a secret that may be shown later: its prefix and last four characters. */
export function secretHint(secret: string): string {
  return `${PREFIX}...${secret.slice(-4)}`;
}

/** `secret` as stored: sealed under the key ring, bound to its endpoint. */
export function sealSecret(root_key: RootKeyRing, webhook_id: string, secret: string): Buffer {
  return sealColumn(root_key, 'webhook.secret_sealed', [webhook_id], Buffer.from(secret));
}

/** The secret that `sealSecret` sealed. @throws Error when key, endpoint or bytes differ. */
export function openSecret(root_key: RootKeyRing, webhook_id: string, sealed: Uint8Array): string {
  return openColumn(root_key, 'webhook.secret_sealed', [webhook_id], sealed).toString();
}

/** A replaced secret, and until when it signs together with its successors. */
interface Replaced {
  readonly secret: string;
  readonly until_ms: number;
}

/**
 * At most this many replaced secrets sign, since each adds a signature to every request; beyond that the oldest is
 * dropped.
 */
const REPLACED_MAX = 5;

/** `replaced`, newest first, as stored: sealed together, at most five. */
export function sealReplaced(
  root_key: RootKeyRing,
  webhook_id: string,
  replaced: readonly Replaced[],
): Buffer {
  const text = JSON.stringify(replaced.slice(0, REPLACED_MAX));
  return sealColumn(root_key, 'webhook.previous_secret_sealed', [webhook_id], Buffer.from(text));
}

/**
 * Of what `sealReplaced` sealed, the secrets that sign at `at_ms`. A bare secret, as once stored, signs until
 * `ends_at`.
 */
export function openReplaced(
  root_key: RootKeyRing,
  webhook_id: string,
  stored: { readonly sealed: Uint8Array | null; readonly ends_at: Date | null; readonly at_ms: number },
): Replaced[] {
  const { sealed, ends_at, at_ms } = stored;
  if (sealed === null || ends_at === null) return [];
  const text = openColumn(root_key, 'webhook.previous_secret_sealed', [webhook_id], sealed).toString();
  const all = text.startsWith(PREFIX)
    ? [{ secret: text, until_ms: ends_at.getTime() }]
    : (JSON.parse(text) as Replaced[]);
  return all.filter(({ until_ms }) => until_ms > at_ms);
}

/**
 * The headers of one attempt: id, seconds of the attempt, one signature per valid secret. `at_ms` is by the machine's
 * clock, because receivers compare it with theirs.
 */
export function signedHeaders(message: {
  readonly event_id: string;
  readonly body: string;
  readonly at_ms: number;
  readonly secrets: readonly string[];
}): Record<string, string> {
  const { event_id, body, at_ms } = message;
  const at = new Date(at_ms);
  return {
    'webhook-id': event_id,
    'webhook-timestamp': String(Math.floor(at_ms / 1000)),
    'webhook-signature': message.secrets
      .map((secret) => new Webhook(secret).sign(event_id, at, body))
      .join(' '),
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
  };
}
