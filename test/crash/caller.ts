// One caller: sends a planned call and reports what its eyes saw, no more.
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

export interface Witness {
  readonly call: PlannedCall;
  readonly seen: Seen;
  /** The gateway that had the call was not killed in its round, so that whatever it owes has to come. */
  readonly spared: boolean;
  /** PostgreSQL was killed in its round: a hold may have been lost, and an extension not decided. */
  readonly holds_at_risk: boolean;
}

export interface Callers {
  /** Sends `call` to the gateway at `origin`. Rejects only when an event of the answer is not JSON. */
  send(origin: string, call: PlannedCall): Promise<Pick<Witness, 'call' | 'seen'>>;
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

/** What an event stream says in the end: its cost, its error, or neither. */
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

function judge(status: number, request_id: string, text: string): Seen | null {
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

function bodyOf(call: PlannedCall): string {
  return JSON.stringify({
    model: call.model,
    ...(call.max_tokens === null ? {} : { max_tokens: call.max_tokens }),
    stream: call.stream,
    messages: [{ role: 'user', content: promptOf(call) }],
  });
}

async function exchange(pool: Pool, call: PlannedCall): Promise<Seen> {
  const leave = new AbortController();
  const timer = call.leave_after_ms === null ? null : setTimeout(() => leave.abort(), call.leave_after_ms);
  let request_id: string | null = null;
  let status = 0;
  let text = '';
  let whole = false;
  try {
    const reply = await pool.request({
      path: call.dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages',
      method: 'POST',
      headers: { authorization: `Bearer ${call.key}`, 'content-type': 'application/json' },
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
    const seen = judge(status, request_id, text);
    if (seen !== null) return seen;
  }
  return { kind: leave.signal.aborted ? 'left' : 'lost', request_id };
}

/** Callers with their own connections; nothing is retried. */
export function openCallers(): Callers {
  const pools = new Map<string, Pool>();
  return {
    async send(origin, call) {
      let pool = pools.get(origin);
      if (pool === undefined) {
        pool = new Pool(origin, {
          connections: 512,
          pipelining: 1,
          headersTimeout: 60_000,
          bodyTimeout: 60_000,
        });
        pools.set(origin, pool);
      }
      return { call, seen: await exchange(pool, call) };
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
