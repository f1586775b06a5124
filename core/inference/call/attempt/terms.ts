// The terms of all attempts of a call, fixed before the first of them.
import type { Endpoint } from '../../../catalog/index.ts';

export interface Planned {
  readonly endpoint: Endpoint;
  /** Output cap to send, in tokens; null when the model's own maximum applies. */
  readonly cap: number | null;
  /** The balance, not the caller or the model, determined the cap. */
  readonly by_credit: boolean;
}

/** The plan with its limits. */
export interface AttemptTerms {
  readonly plan: readonly Planned[];
  readonly max_attempts: number;
  /** `failover.on` of the policy; absent: the default classes. */
  readonly failover?: readonly string[];
  readonly times: { readonly first_event_ms: number; readonly idle_ms: number };
  readonly total_ms: number;
  /**
   * Which limits the caller or its policy lowered: an end by such a limit is treated as if the caller had left
   * (docs/outcomes.md#chosen-time-is-up).
   */
  readonly chosen: { readonly first_event: boolean; readonly idle: boolean; readonly total: boolean };
  /** The answer is assembled for a replay or for the log; never when key, policy or request demand zero retention. */
  readonly keep: boolean;
  readonly prompt_bytes: number;
  readonly prompts: number;
}
