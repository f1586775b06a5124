// One caller: sends a planned call, once or as often as the plan says, and reports only what it saw.
import { ulidMs } from '@svc/core/kernel/index.ts';
import { Pool } from 'undici';
import { type PlannedCall, promptOf } from './plan.ts';

/**
 * `final`: the answer came with its cost. `refused`: a complete error answer, or an error event in the stream.
 * `left`: the caller hung up. `lost`: the connection ended before any of these.
 */
export type Seen =
  | { readonly kind: 'final'; readonly request_id: string; readonly cost_micro_usd: number }
  | {
      readonly kind: 'refused';
      readonly request_id: string | null;
      readonly status: number;
      readonly code: string;
    }
  | { readonly kind: 'left'; readonly request_id: string | null }
  | { readonly kind: 'lost'; readonly request_id: string | null };

/** What a caller reports of its call. */
export interface Sent {
  readonly call: PlannedCall;
  /** How it ended for the caller. */
  readonly seen: Seen;
  /** Request ids of all tries. */
  readonly ids: readonly string[];
  /** What another try saw beside or after the end: of the same call, so it must be the same answer. */
  readonly again: Seen | null;
  /** A busy machine brought the retry long after the answer, or before the call that it repeats: it is a new call. */
  readonly late: boolean;
}

export interface Witness extends Sent {
  /** The gateway that had the call was not killed in its round, so that whatever it owes has to come. */
  readonly spared: boolean;
  /** PostgreSQL was killed in its round: a hold may have been lost, and an extension may be undecided. */
  readonly holds_at_risk: boolean;
  /** Its gateway may have answered from its journal and then lost its lease: another execution can have the key (core/ledger/README.md). */
  readonly key_at_risk?: boolean;
}

export interface Callers {
  /** Sends `call` to the gateway at `origin`, which a caller that asks again asks for anew. Rejects only when an event of the answer is not JSON. */
  send(origin: string | (() => string), call: PlannedCall): Promise<Sent>;
  close(): Promise<void>;
}

interface SvcPart {
  readonly svc?: { readonly cost?: { readonly total_micro_usd: number } | null } | null;
  readonly error?: {
    readonly code?: string | null;
    readonly type?: string;
    readonly details?: { readonly error_code?: string };
  };
}

function costIn(part: SvcPart): number | null {
  return part.svc?.cost?.total_micro_usd ?? null;
}

function codeIn(part: SvcPart): string {
  return part.error?.details?.error_code ?? part.error?.code ?? part.error?.type ?? 'unknown';
}

/** How an event stream ended: with its cost, with an error, or with neither. */
function readStream(text: string): { cost: number | null; code: string | null } {
  let cost: number | null = null;
  let code: string | null = null;
  // The last piece may be half an event: the caller reads whole events only.
  for (const event of text.split('\n\n').slice(0, -1)) {
    const data = event.slice(event.indexOf('data: ') + 6);
    if (!data.startsWith('{')) continue;
    const part = JSON.parse(data) as SvcPart;
    if (part.error !== undefined) code = codeIn(part);
    else cost = costIn(part) ?? cost;
  }
  return { cost, code };
}

function readWhole(text: string): SvcPart | null {
  try {
    return JSON.parse(text) as SvcPart;
  } catch {
    return null;
  }
}

/** What a caller makes of an answer: its end, or null where it has none. */
export function readAnswer(status: number, request_id: string, text: string): Seen | null {
  if (status !== 200) {
    const part = readWhole(text);
    return part === null ? null : { kind: 'refused', request_id, status, code: codeIn(part) };
  }
  if (text.startsWith('{')) {
    const part = readWhole(text);
    const cost = part === null ? null : costIn(part);
    return cost === null ? null : { kind: 'final', request_id, cost_micro_usd: cost };
  }
  const { cost, code } = readStream(text);
  if (code !== null) return { kind: 'refused', request_id, status, code };
  return cost === null ? null : { kind: 'final', request_id, cost_micro_usd: cost };
}

/** The body that asks for `call`. */
export function bodyOf(call: PlannedCall): string {
  return JSON.stringify({
    model: call.model,
    ...(call.max_tokens === null ? {} : { max_tokens: call.max_tokens }),
    stream: call.stream,
    messages: [{ role: 'user', content: promptOf(call) }],
    ...(call.budget === undefined ? {} : { svc: { budget: call.budget } }),
  });
}

interface Try {
  readonly headers: Readonly<Record<string, string>>;
  readonly leave_after_ms: number | null;
}

async function exchange(pool: Pool, call: PlannedCall, how: Try): Promise<Seen> {
  const leave = new AbortController();
  const timer = how.leave_after_ms === null ? null : setTimeout(() => leave.abort(), how.leave_after_ms);
  let request_id: string | null = null;
  let status = 0;
  let text = '';
  let whole = false;
  try {
    const reply = await pool.request({
      path: call.dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages',
      method: 'POST',
      headers: { authorization: `Bearer ${call.key}`, 'content-type': 'application/json', ...how.headers },
      body: bodyOf(call),
      signal: leave.signal,
    });
    status = reply.statusCode;
    request_id = (reply.headers['x-svc-request-id'] as string | undefined) ?? null;
    reply.body.setEncoding('utf8');
    for await (const piece of reply.body) text += piece;
    whole = true;
  } catch {
    // Refused connection, reset, abort: what was read until then is what the caller has.
  } finally {
    if (timer !== null) clearTimeout(timer);
  }
  const isStream = status === 200 && !text.startsWith('{');
  if (request_id !== null && (whole || isStream)) {
    const seen = readAnswer(status, request_id, text);
    if (seen !== null) return seen;
  }
  return { kind: leave.signal.aborted ? 'left' : 'lost', request_id };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** How long a caller with a key asks for its answer: a lease lapses, and the sweeper comes, within that. */
const PATIENCE_MS = 20_000;
const BETWEEN_MS = 150;
/** The call was made and charged, and its answer could not be kept: to its caller it is one whose end was lost. */
const NOT_KEPT = 'idempotency_replay_unavailable';
/** Error codes after which a caller with a key asks again. */
const FOR_NOW = new Set(['idempotency_in_progress', 'service_unavailable', 'overloaded']);
/** A client asks again so much later, as official ones do at the earliest; its first connection is still there. */
const GIVES_UP_MS = 375;
/** How long an answer that was sent is kept for such a client, less a margin. */
const KEPT_MS = 1_000;

/** When the gateway began a call, in milliseconds since 1970; 0 where the caller has no id. */
export const begunMs = ({ request_id }: Seen): number => (request_id === null ? 0 : ulidMs(request_id));

/** Whether `one` began after `other`, of the same gateway: its ids rise, also within a millisecond. */
export function isAfter(one: Seen, other: Seen): boolean {
  return one.request_id !== null && other.request_id !== null && one.request_id > other.request_id;
}

/** Whether a caller with a key asks again after `seen`. */
export function isForNow(seen: Seen): boolean {
  return seen.kind === 'lost' || seen.kind === 'left' || (seen.kind === 'refused' && FOR_NOW.has(seen.code));
}

/** What became of the try whose answer `got` says was not kept: whoever left one is charged for it. Null: it says nothing like it. */
export function endNotKept(got: Seen, tries: readonly Seen[]): Seen | null {
  if (got.kind !== 'refused' || got.code !== NOT_KEPT) return null;
  const kind = tries.some((one) => one.kind === 'left') ? 'left' : 'lost';
  return { kind, request_id: tries.find((one) => one.kind === kind)?.request_id ?? null };
}

export function idsOf(all: readonly Seen[]): string[] {
  return all.map(({ request_id }) => request_id).filter((id) => id !== null);
}

/** Asks with an Idempotency-Key until there is an answer, and then once more. */
async function sendKeyed(pool: () => Pool, call: PlannedCall): Promise<Sent> {
  const deadline = performance.now() + PATIENCE_MS;
  const headers = { 'idempotency-key': `crash-${call.no}` };
  const all: Seen[] = [];
  let { leave_after_ms } = call;
  for (;;) {
    const got = await exchange(pool(), call, { headers, leave_after_ms });
    const not_kept = endNotKept(got, all);
    const seen = not_kept ?? got;
    all.push(seen);
    leave_after_ms = null;
    if (not_kept === null && isForNow(seen) && performance.now() < deadline) {
      await pause(BETWEEN_MS);
      continue;
    }
    const again = seen.kind === 'final' ? await exchange(pool(), call, { headers, leave_after_ms }) : null;
    return { call, seen, again, late: false, ids: idsOf(again === null ? all : [...all, again]) };
  }
}

/** Asks as an official client does whose first try takes too long, although it is still connected. */
async function sendAsClient(pool: Pool, call: PlannedCall): Promise<Sent> {
  const tries = (count: number) =>
    exchange(pool, call, { headers: { 'x-stainless-retry-count': String(count) }, leave_after_ms: null });
  let ended_ms = Number.POSITIVE_INFINITY;
  const earlier = tries(0).finally(() => {
    ended_ms = Date.now();
  });
  await pause(GIVES_UP_MS);
  const [first, second] = await Promise.all([earlier, tries(1)]);
  const arrived_ms = begunMs(second);
  const late = arrived_ms > ended_ms + KEPT_MS || isAfter(first, second);
  const [seen, again] = second.kind === 'final' ? [second, first] : [first, second];
  return { call, seen, again, late, ids: idsOf([first, second]) };
}

/** Callers with their own connections; only those with a habit ask more than once. */
export function openCallers(): Callers {
  const pools = new Map<string, Pool>();
  const poolOf = (wanted: string | (() => string)): Pool => {
    const origin = typeof wanted === 'string' ? wanted : wanted();
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const limits = { headersTimeout: 60_000, bodyTimeout: 60_000 };
    const pool = new Pool(origin, { connections: 512, pipelining: 1, ...limits });
    pools.set(origin, pool);
    return pool;
  };
  return {
    async send(origin, call) {
      if (call.habit === 'keyed') return sendKeyed(() => poolOf(origin), call);
      if (call.habit === 'retries') return sendAsClient(poolOf(origin), call);
      const seen = await exchange(poolOf(origin), call, {
        headers: {},
        leave_after_ms: call.leave_after_ms,
      });
      return { call, seen, ids: idsOf([seen]), again: null, late: false };
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
