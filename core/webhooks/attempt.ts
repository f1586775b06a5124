// One attempt: sign, send, and record the result for the delivery and for its endpoint.

import type { Egress, EgressResponse } from '../egress/index.ts';
import { findMailboxes } from '../identity/index.ts';
import {
  type Db,
  type Log,
  machineMs,
  monotonicMs,
  now,
  nowMs,
  type RootKeyRing,
  secureUnit,
} from '../kernel/index.ts';
import { sendMail } from '../mail/index.ts';
import { findOrg } from '../orgs/index.ts';
import { dropClaimed, dropQueued, endAttempt } from './delivery-store.ts';
import { type AttemptResult, judgeDelivery, judgeEndpoint, readRetryAfter } from './schedule.ts';
import { openReplaced, openSecret, signedHeaders } from './sign.ts';
import { lockWebhook, noteAttempt } from './store.ts';
import type { Claimed, WebhookRow } from './types.ts';

const CONNECT_MS = 3_000;
const TOTAL_MS = 10_000;
/**
 * How much of the answer is read, though nothing of it is kept: a receiver that is cut off may take that for a failure.
 */
const ANSWER_BYTES_MAX = 65_536;

/** The parts that an attempt needs, from a process or from an operation's context. */
export interface Transactor extends Db {
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

export interface AttemptParts {
  readonly store: Transactor;
  readonly egress: Egress;
  readonly root_key: RootKeyRing;
  readonly log: Log;
  /** Milliseconds until an attempt counts as failed; ten seconds unless a test cannot wait. */
  readonly total_ms?: number;
}

/** The result of an attempt, for metrics. `lost`: another process took the delivery over, or it was deleted. */
export type Outcome = 'delivered' | 'queued' | 'failed' | 'dropped' | 'lost';

function secretsOf(root_key: RootKeyRing, claimed: Claimed): string[] {
  const { webhook_id, previous_secret_sealed: sealed, previous_secret_expires_at: ends_at } = claimed;
  const replaced = openReplaced(root_key, webhook_id, { sealed, ends_at, at_ms: nowMs() });
  return [openSecret(root_key, webhook_id, claimed.secret_sealed), ...replaced.map(({ secret }) => secret)];
}

function resultOf(answer: EgressResponse, latency_ms: number): AttemptResult {
  if (answer.fault !== null) return { code: 0, latency_ms, error: answer.fault, retry_after_ms: null };
  const { status: code, headers } = answer;
  const error = code >= 300 && code < 400 ? 'redirect' : '';
  // An HTTP date refers to the machine's clock, not to the development clock.
  return {
    code,
    latency_ms,
    error,
    retry_after_ms: readRetryAfter(code, headers['retry-after'], machineMs()),
  };
}

async function send(parts: AttemptParts, claimed: Claimed): Promise<AttemptResult> {
  const { event_id, body, url } = claimed;
  const began_ms = monotonicMs();
  const answer = await parts.egress.exchange({
    url,
    method: 'POST',
    headers: signedHeaders({
      event_id,
      body,
      at_ms: machineMs(),
      secrets: secretsOf(parts.root_key, claimed),
    }),
    body,
    connect_ms: CONNECT_MS,
    total_ms: parts.total_ms ?? TOTAL_MS,
    body_bytes_max: ANSWER_BYTES_MAX,
  });
  return resultOf(answer, Math.round(monotonicMs() - began_ms));
}

interface Recorded {
  readonly outcome: Outcome;
  /** Set when this attempt switched the endpoint off. */
  readonly disabled: { readonly webhook: WebhookRow; readonly reason: 'gone' | 'failing' } | null;
}

async function record(db: Db, claimed: Claimed, result: AttemptResult): Promise<Recorded> {
  const at = now();
  const { id, lease, webhook_id, org_id } = claimed;
  // Every transaction locks the endpoint before its delivery.
  const webhook = await lockWebhook(db, { org_id, id: webhook_id });
  if (webhook === null) return { outcome: 'lost', disabled: null };
  const health = judgeEndpoint(result, webhook, at);
  const is_active = webhook.status === 'active' && health.disable === null;
  const { attempts, attempts_max } = claimed;
  const verdict = judgeDelivery(result, { attempt: attempts + 1, attempts_max, is_active }, secureUnit());
  const { status } = verdict;
  const next_at = verdict.status === 'queued' ? new Date(at.getTime() + verdict.delay_ms) : null;
  const { code, latency_ms, error } = result;
  const entry = { at: at.toISOString(), code, latency_ms, error };
  if (!(await endAttempt(db, { id, lease, status, next_at, entry, at })))
    return { outcome: 'lost', disabled: null };
  // A test of a disabled endpoint does not change its health.
  const disable = webhook.status === 'active' ? health.disable : null;
  const { failing_since, failed_attempts } = webhook.status === 'active' ? health : webhook;
  await noteAttempt(db, { id: webhook_id, failing_since, failed_attempts, disable, at });
  if (disable === null) return { outcome: status, disabled: null };
  await dropQueued(db, webhook_id);
  await reportDisabled(db, { webhook, reason: disable, at });
  return { outcome: status, disabled: { webhook, reason: disable } };
}

/** Asks for a mail to owners, admins and the person who made the endpoint. */
async function reportDisabled(
  db: Db,
  { webhook, reason, at }: { webhook: WebhookRow; reason: 'gone' | 'failing'; at: Date },
): Promise<void> {
  const { id: webhook_id, org_id, url, created_by } = webhook;
  const org = await findOrg(db, org_id);
  if (org === null) return;
  await sendMail(
    { db, now },
    {
      template: 'webhook_disabled',
      to: await findMailboxes(db, { org_id, roles: ['owner', 'admin'], also: created_by }),
      org_id,
      // An endpoint that was switched on again may be switched off again.
      reference: `${webhook_id}-${at.getTime()}`,
      data: { org: org.name, slug: org.slug, webhook_id, url, reason },
    },
  );
}

/**
 * Makes the attempt that `claimed` is leased for and records it. Everything that the receiver does becomes a result.
 * Throws only when the database cannot be written; then the lease ends and the event is sent again under the same id.
 */
export async function attemptDelivery(parts: AttemptParts, claimed: Claimed): Promise<Outcome> {
  const is_test = claimed.attempts_max === 1;
  if (!claimed.is_active && !is_test) {
    await dropClaimed(parts.store, claimed);
    return 'dropped';
  }
  const result = await send(parts, claimed);
  const { outcome, disabled } = await parts.store.transaction((db) => record(db, claimed, result));
  if (disabled !== null) {
    const { id: webhook, org_id: org } = disabled.webhook;
    parts.log.warn({ webhook, org, reason: disabled.reason }, 'webhook endpoint disabled');
  }
  return outcome;
}
