// The gateway as a run sees it: one call at a time, never for more than a cap, and the same answer for the same key.
import type { JsonObject } from '../../kernel/index.ts';
import type { RunClaims } from '../../keys/index.ts';

export interface CallAsked {
  readonly claims: RunClaims;
  /** The Idempotency-Key. */
  readonly key: string;
  readonly cap_micro_usd: number;
  readonly body: JsonObject;
}

export interface Answered {
  readonly kind: 'answer';
  readonly request_id: string;
  /** All text of the first candidate. */
  readonly text: string;
  readonly usage: JsonObject | null;
  readonly cost_micro: number;
  readonly written_off_micro: number;
  readonly ttft_ms: number | null;
  readonly duration_ms: number | null;
}

export interface Refused {
  readonly kind: 'refused';
  readonly request_id: string;
  readonly status: number;
  readonly code: string;
  readonly details: JsonObject;
  /** What the call has cost all the same. */
  readonly cost_micro: number;
  readonly retry_after_ms: number | null;
}

export interface EvalGateway {
  /** @throws Error when no answer came: the call may have been made, and is asked for again by the same key. */
  call(asked: CallAsked): Promise<Answered | Refused>;
}

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    /** Of workers alone. */
    readonly eval_gateway?: EvalGateway;
  }
}
