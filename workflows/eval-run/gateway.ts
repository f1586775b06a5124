// Calls of evaluations, made at the gateway like those of customers: the same limits, policies, holds and rows, and the answer
// is kept there for its Idempotency-Key. Assembling calls in the worker would need a ledger client, journals and provider keys
// here, and a place for the answer that was paid for when this process dies.
import type { Answered, CallAsked, EvalGateway, Refused } from '@svc/core/evals/index.ts';
import { isObject, type JsonObject, type RootKeyRing } from '@svc/core/kernel/index.ts';
import { runCredential } from '@svc/core/keys/index.ts';

const PATH = '/v1/svc/generate';
/** An answer may take ten minutes; one that does not come is asked for again by its key. */
const PATIENCE_MS = 640_000;

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function numberOr(value: unknown, other: number): number;
function numberOr(value: unknown, other: null): number | null;
function numberOr(value: unknown, other: number | null): number | null {
  return typeof value === 'number' ? value : other;
}

/** All text parts of the first candidate; neither reasoning nor calls of tools. */
function textOf(body: JsonObject): string {
  const [first] = (body['candidates'] ?? []) as JsonObject[];
  const parts = (first?.['content'] ?? []) as JsonObject[];
  return parts.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : '')).join('');
}

function answered(body: JsonObject): Answered {
  const { cost, timing, usage } = body;
  return {
    kind: 'answer',
    request_id: String(body['request_id'] ?? ''),
    text: textOf(body),
    usage: isObject(usage) ? usage : null,
    cost_micro: numberOr(member(cost, 'total_micro_usd'), 0),
    written_off_micro: numberOr(member(cost, 'written_off_micro_usd'), 0),
    ttft_ms: numberOr(member(timing, 'ttft_ms'), null),
    duration_ms: numberOr(member(timing, 'duration_ms'), null),
  };
}

function refused(answer: Response, body: unknown): Refused {
  const error = member(body, 'error');
  const details = member(error, 'details');
  const after = answer.headers.get('retry-after');
  return {
    kind: 'refused',
    request_id: answer.headers.get('x-request-id') ?? '',
    status: answer.status,
    code: String(member(error, 'code') ?? 'upstream_error'),
    details: isObject(details) ? details : {},
    cost_micro: Number(answer.headers.get('x-svc-cost-micro') ?? 0),
    retry_after_ms: after === null ? null : Math.ceil(Number(after) * 1_000) || null,
  };
}

/** The gateway at `address`, called with credentials signed by `root_key`. */
export function gatewayAt(address: string, root_key: RootKeyRing): EvalGateway {
  return {
    async call({ claims, key, cap_micro_usd, body }: CallAsked) {
      const answer = await fetch(`${address.replace(/\/$/, '')}${PATH}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${runCredential(root_key, claims)}`,
          'content-type': 'application/json',
          'idempotency-key': key,
          'x-svc-cost-cap-micro': String(cap_micro_usd),
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await answer.text();
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        // A proxy between us may answer for a gateway that is away.
        throw new Error(`no answer of a gateway: ${answer.status}`);
      }
      return answer.ok && isObject(value) ? answered(value) : refused(answer, value);
    },
  };
}
