// Stores a call's content for its organization's log, if the organization asks for that: request and answer in the
// canonical form. It is stored beside the request row, never in it.
import type { CanonicalAnswer, CanonicalRequest } from '../../canonical/types.ts';
import type { Kept } from '../attempt/lane.ts';
import { readAgain, readAgainInSteps } from '../reading.ts';
import { inTurn } from '../turns.ts';
import type { CallDeps, CallRecord, Incoming } from '../types.ts';
import type { Idempotency } from './idempotency.ts';

/** Longer base64 is replaced by its length: media are not stored. */
const BASE64_MAX = 1_024;

/** Ends with the call: passes its content on, or releases the reserved space. */
export type ContentKeeper = (record: CallRecord, kept: Kept | null) => void;

/** Whether the answer is assembled, for a replay or for the log. Zero retention excludes both. */
export function keepsAnswer(
  incoming: Incoming,
  record: CallRecord,
  idempotency: Idempotency | null,
): boolean {
  return !record.zdr && (idempotency !== null || incoming.grant.data_policy.logging);
}

/**
 * The keeper of a call whose policy and key ask for its content to be logged; null for other calls, and while the log
 * is overloaded.
 */
export function contentKeeper(deps: CallDeps, incoming: Incoming, record: CallRecord): ContentKeeper | null {
  const { body, dialect, headers, grant, in_slices } = incoming;
  const { logging, redact } = grant.data_policy;
  if (!logging || record.zdr) return null;
  // An organization gets no answers for which the platform pays.
  if (incoming.shadow?.drawn.plan.bill === 'platform') return null;
  const slot = deps.payloads.open(grant.org_id, body.length);
  if (slot === null) return null;
  return (record, kept) => {
    const { request_id, attempts } = record;
    if (attempts.length === 0) return slot.free();
    record.logged = true;
    const response = responseText(kept);
    slot.write({
      ...{ request_id, org_id: grant.org_id, redact },
      bytes: body.length + (response?.length ?? 0),
      texts: async () => {
        const asked = { dialect, body, headers };
        const request = in_slices ? await inTurn({ grant }, readAgainInSteps(asked)) : readAgain(asked);
        return { request: storedText(request), response };
      },
    });
  };
}

/** Replaces media and vectors by their size. */
function sparing(key: string, value: unknown): unknown {
  if (key === 'vectors' && Array.isArray(value)) return `[${value.length} vectors]`;
  if (key !== 'base64' || typeof value !== 'string' || value.length <= BASE64_MAX) return value;
  return `[base64, ${value.length} characters]`;
}

/**
 * Whether each member of the canonical request is logged. A new member does not compile until somebody has decided.
 */
const MEMBERS = {
  model: 'kept',
  messages: 'kept',
  paths: 'kept',
  tools: 'kept',
  tool_choice: 'kept',
  parallel_tools: 'kept',
  generation: 'kept',
  reasoning: 'kept',
  output: 'kept',
  service_tier: 'kept',
  task: 'kept',
  stream: 'kept',
  include_usage: 'kept',
  dialect: 'kept',
  ext: 'kept',
  legacy_functions: 'kept',
  completion: 'kept',
  // The end user's id, and keys that may be derived from it.
  user: 'left',
  cache: 'left',
  // The same for every request of the dialect.
  words: 'left',
  continues: 'left',
  // The gateway's own options, and headers of the caller's account at a provider.
  svc: 'left',
  warnings: 'left',
  anthropic: 'left',
  // Members that are kept a second time, as they were sent.
  echo: 'left',
  context_edits: 'left',
  namespaces: 'left',
} as const satisfies Record<keyof CanonicalRequest, 'kept' | 'left'>;

const kept_members: ReadonlySet<string> = new Set(
  Object.entries(MEMBERS).flatMap(([name, fate]) => (fate === 'kept' ? [name] : [])),
);

/** The JSON text of `request` for the log: only the members that are listed to be kept. */
export function storedText(request: CanonicalRequest): string {
  const asked = Object.entries(request).filter(([name]) => kept_members.has(name));
  return JSON.stringify(Object.fromEntries(asked), sparing);
}

/** The answer, or as much of it as arrived; null when nothing did. */
function responseText(kept: Kept | null): string | null {
  if (kept === null) return null;
  let answer: CanonicalAnswer | null;
  try {
    answer = kept();
  } catch {
    // The provider's answer was incomplete or malformed; the row says so.
    return null;
  }
  if (answer === null) return null;
  const is_empty = answer.candidates.length === 0 && answer.usage === null;
  return is_empty ? null : JSON.stringify(answer, sparing);
}
