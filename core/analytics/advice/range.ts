// Which time the calls that were looked at are all of. Pure.
import type { AdvisedCall } from './store.ts';

const HOUR_MS = 3_600_000;

export interface Looked {
  readonly from: Date;
  readonly to: Date;
  readonly calls: readonly AdvisedCall[];
  /** The range begins with an hour, so that sums by hours are of these calls alone. */
  readonly whole_hours: boolean;
}

/** Cuts what was read to a range that a query can ask for; `limit` was reached when not all calls were read. */
export function lookedAt(
  calls: readonly AdvisedCall[],
  range: { from: Date; to: Date },
  limit: number,
): Looked {
  const oldest = calls.at(-1);
  if (calls.length < limit || oldest === undefined) return { ...range, calls, whole_hours: true };
  const hour = Math.ceil((oldest.ts.getTime() + 1) / HOUR_MS) * HOUR_MS;
  const whole_hours = hour < range.to.getTime();
  // Of the oldest millisecond some calls may not have been read.
  const from = new Date(whole_hours ? hour : oldest.ts.getTime() + 1);
  return { from, to: range.to, calls: calls.filter(({ ts }) => ts >= from), whole_hours };
}
