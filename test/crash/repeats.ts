// What was asked more than once: calls by callers that ask again, and top-ups that are booked until it is acknowledged.
import type { Seen, Witness } from './caller.ts';
import type { Charge, LedgerState } from './oracle.ts';
import type { TopUp } from './worker-process.ts';

function isSame(one: Seen, other: Seen): boolean {
  if (one.kind !== 'final' || other.kind !== 'final') return true;
  return one.request_id === other.request_id && one.cost_micro_usd === other.cost_micro_usd;
}

/**
 * Several tries of one call are charged once, and get one answer. Those of an official client are one call only within
 * one living process, soon after the answer, and while it is clear which call a retry means: no other of its key has just failed.
 */
export function judgeTries(
  { call, seen, again, ids, late, spared, holds_at_risk, key_at_risk }: Witness,
  charges: ReadonlyMap<string, Charge>,
  round: readonly Witness[],
): string[] {
  if (call.habit === 'once') return [];
  const failed = ({ call: { habit }, seen, again }: Witness) =>
    habit === 'retries' && (seen.kind === 'refused' || again?.kind === 'refused');
  const unclear = () => round.some(failed);
  if (call.habit === 'retries' && (late || !spared || holds_at_risk || unclear())) return [];
  const faults: string[] = [];
  const paid = [...new Set(ids)].filter((id) => (charges.get(id)?.cost ?? 0) > 0);
  if (paid.length > 1) faults.push(`call ${call.no}: ${call.habit}, and paid ${paid.length} times: ${paid}`);
  // Of two executions one is recorded and free.
  const was_replaced = key_at_risk === true && ids.some((id) => charges.get(id)?.cost === 0);
  if (again !== null && !isSame(seen, again) && !was_replaced)
    faults.push(`call ${call.no}: ${call.habit}, and got two answers: ${JSON.stringify([seen, again])}`);
  return faults;
}

/** Every acknowledged top-up is in its book once, with its amount, and nothing else is. */
export function judgeTopUps({ top_ups: booked }: LedgerState, acknowledged: readonly TopUp[]): string[] {
  const faults: string[] = [];
  const expected = new Map(acknowledged.map((one) => [one.reference, one]));
  const seen = new Set<string>();
  for (const { reference, book_id, amount } of booked) {
    const wanted = expected.get(reference);
    if (wanted === undefined) faults.push(`top-up ${reference} is in the ledger, and nobody paid it`);
    else if (wanted.book_id !== book_id || wanted.amount_micro_usd !== amount)
      faults.push(`top-up ${reference} credited ${amount} to book ${book_id}: ${JSON.stringify(wanted)}`);
    if (seen.has(reference)) faults.push(`top-up ${reference} is in the ledger twice`);
    seen.add(reference);
  }
  for (const { reference } of acknowledged)
    if (!seen.has(reference)) faults.push(`top-up ${reference} is not in the ledger`);
  return faults;
}
