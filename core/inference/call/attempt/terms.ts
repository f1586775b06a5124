// What all attempts of a call go by, agreed before the first of them.
import type { Endpoint } from '../../../catalog/index.ts';

export interface Planned {
  readonly endpoint: Endpoint;
  /** Output cap to send, or null where the model's own maximum is the bound. */
  readonly cap: number | null;
  /** Credit, not caller or model, set the cap. */
  readonly by_credit: boolean;
}

/** The plan with its limits. */
export interface AttemptTerms {
  readonly plan: readonly Planned[];
  readonly max_attempts: number;
  /** `failover.on` of the policy; absent: the standard classes. */
  readonly failover?: readonly string[];
  readonly times: { readonly first_event_ms: number; readonly idle_ms: number };
  readonly total_ms: number;
  /**
   * Which limits the caller or its policy lowered: a cut by one is like leaving (docs/outcomes.md#chosen-time-is-up).
   */
  readonly chosen: { readonly first_event: boolean; readonly idle: boolean; readonly total: boolean };
  /** The answer is assembled, for a replay or the log; never where key, policy or request demand zero retention. */
  readonly keep: boolean;
  readonly prompt_bytes: number;
}
