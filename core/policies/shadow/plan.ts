// Shadows as a policy asks for them: of some calls a copy goes to another endpoint, and the answers are compared.
import { shareOf } from '../canary.ts';
import { type Actions, type PolicyDocument, shadowBills } from '../types.ts';

/** A shadow with everything that its policy leaves to the standard. */
export interface ShadowPlan {
  readonly endpoint_id: string;
  /** Of 10,000 calls this many are copied. */
  readonly share: number;
  readonly bill: (typeof shadowBills)[number];
  /** Copies in a day (UTC) over all gateways; null: no limit. */
  readonly max_per_day: number | null;
}

/** `written` with what it leaves to the standard. */
export function shadowOf(written: NonNullable<Actions['shadow']>): ShadowPlan {
  const { endpoint, percent, bill = shadowBills[0], max_per_day = null } = written;
  return { endpoint_id: endpoint, share: shareOf(percent), bill, max_per_day };
}

/** The shadows of a policy, in the order of its text; an endpoint is the shadow of one place only. */
export function shadowsOf({ defaults, rules = [] }: PolicyDocument): ShadowPlan[] {
  const written = [defaults ?? {}, ...rules].map(({ shadow }) => shadow);
  return written.flatMap((shadow) => (shadow === undefined ? [] : [shadowOf(shadow)]));
}
