// Content of a call for the log of its organisation, where it asks for that: what was asked and answered, in the
// canonical form. Beside the row, never in it.
import type { CanonicalAnswer, CanonicalRequest } from '../../canonical/types.ts';
import type { Kept } from '../attempt/lane.ts';
import { readAgain } from '../reading.ts';
import type { CallDeps, CallRecord, Incoming } from '../types.ts';
import type { Idempotency } from './idempotency.ts';

/** Of longer base64 only the length is written down: media are not kept. */
const BASE64_MAX = 1_024;

/** Ends with the call: hands its content over, or gives its room back. */
export type ContentKeeper = (record: CallRecord, kept: Kept | null) => void;

/** Whether the answer is assembled: for a replay, or for the log. Zero retention keeps none of the two. */
export function keepsAnswer(
  incoming: Incoming,
  record: CallRecord,
  idempotency: Idempotency | null,
): boolean {
  return !record.zdr && (idempotency !== null || incoming.grant.data_policy.logging);
}

/** The keeper of a call whose policy and key ask for its content to be logged; null for others, and while the log is behind. */
export function contentKeeper(deps: CallDeps, incoming: Incoming, record: CallRecord): ContentKeeper | null {
  const { body, dialect, headers, grant } = incoming;
  const { logging, redact } = grant.data_policy;
  if (!logging || record.zdr) return null;
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
      texts: () => ({ request: storedText(readAgain({ dialect, body, headers })), response }),
    });
  };
}

/** Media and vectors as their size alone. */
function sparing(key: string, value: unknown): unknown {
  if (key === 'vectors' && Array.isArray(value)) return `[${value.length} vectors]`;
  if (key !== 'base64' || typeof value !== 'string' || value.length <= BASE64_MAX) return value;
  return `[base64, ${value.length} characters]`;
}

/** Whether a member of the canonical request goes into the log. One that nobody has decided on does not compile. */
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
  // The end user's id, and keys that may be made of it.
  user: 'left',
  cache: 'left',
  // What the dialect says of each of its requests.
  words: 'left',
  continues: 'left',
  // The gateway's own, and headers of the caller's account at a provider.
  svc: 'left',
  warnings: 'left',
  anthropic: 'left',
  // Members that are kept once more, as they were sent.
  echo: 'left',
} as const satisfies Record<keyof CanonicalRequest, 'kept' | 'left'>;

const kept_members: ReadonlySet<string> = new Set(
  Object.entries(MEMBERS).flatMap(([name, fate]) => (fate === 'kept' ? [name] : [])),
);

/** The JSON text of `request` as it is logged: of its members those that are listed to be kept, and no other. */
export function storedText(request: CanonicalRequest): string {
  const asked = Object.entries(request).filter(([name]) => kept_members.has(name));
  return JSON.stringify(Object.fromEntries(asked), sparing);
}

/** What was answered, or as much of it as came; null where nothing did. */
function responseText(kept: Kept | null): string | null {
  if (kept === null) return null;
  let answer: CanonicalAnswer | null;
  try {
    answer = kept();
  } catch {
    // The provider's answer never came whole, or was none: the row says so.
    return null;
  }
  if (answer === null) return null;
  const is_empty = answer.candidates.length === 0 && answer.usage === null;
  return is_empty ? null : JSON.stringify(answer, sparing);
}
