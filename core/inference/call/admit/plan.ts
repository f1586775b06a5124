// The endpoints of a call, with the output cap that each is sent (docs/money/pricing.md#holds).
import type { Endpoint } from '../../../catalog/index.ts';
import { type EndpointReserve, isReserveOf, type ReserveInput, reserve } from '../../../pricing/index.ts';
import type { Planned } from '../attempt/terms.ts';

/** Everything that a hold is computed from, except the balance. */
export type HoldInput = Omit<ReserveInput, 'available_micro_usd'>;

/** `endpoints` with their caps, in order, without those on which the balance affords next to nothing. */
export function capsOf(
  endpoints: readonly Endpoint[],
  hold_input: ReserveInput,
  cap_given: boolean,
): Planned[] {
  const wanted = reserve(endpoints, hold_input);
  return wanted.status === 'ok' ? plannedOf(endpoints, wanted.endpoints, cap_given) : [];
}

/** The same, from a reserve that has already been computed. */
export function plannedOf(
  endpoints: readonly Endpoint[],
  reserved: readonly EndpointReserve[],
  cap_given: boolean,
): Planned[] {
  const planned: Planned[] = [];
  for (const endpoint of endpoints) {
    const item = reserved.find((candidate) => isReserveOf(candidate, endpoint));
    if (item === undefined) continue;
    // The cap is sent when the caller gave it, when the balance lowered it, or when the family requires one.
    const sent = cap_given || item.capped_by_credit || endpoint.wire.needs_cap;
    planned.push({ endpoint, cap: sent ? item.output_cap : null, by_credit: item.capped_by_credit });
  }
  return planned;
}
