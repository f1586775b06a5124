// What a rail's fact does to a dispute, as one pure function (docs/money/disputes.md#what-happens).
import type { Dispute, DisputeFact, DisputeStatus } from '../../topups/index.ts';

export type Decision =
  /** It is new: credits are held, people are told. An end that comes with it follows at once. */
  | { readonly do: 'open'; readonly end: 'won' | 'lost' | null }
  /** It goes on: keep the rail's newest words. */
  | { readonly do: 'note' }
  | { readonly do: 'close'; readonly as: 'won' | 'lost' }
  /** The rail says another end than before: a person decides. */
  | { readonly do: 'ask' }
  | { readonly do: 'nothing' };

function endOf(status: DisputeStatus): 'won' | 'lost' | null {
  return status === 'open' ? null : status;
}

/**
 * What `fact` does to a dispute (null: none is booked), of which the rail has said the end `kept` before or now. Facts come
 * in any order: an end stays an end, and the first of two ends counts.
 */
export function decideDispute(
  dispute: Pick<Dispute, 'status'> | null,
  facts: { readonly fact: Pick<DisputeFact, 'status'>; readonly kept: DisputeStatus },
): Decision {
  const end = endOf(facts.kept);
  if (dispute === null) return { do: 'open', end };
  if (dispute.status === 'open') return end === null ? { do: 'note' } : { do: 'close', as: end };
  const other = facts.fact.status !== 'open' && facts.fact.status !== dispute.status;
  return { do: other ? 'ask' : 'nothing' };
}
