// Disputes at rail-a.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { DisputeFact, DisputeStatus } from '../disputes/types.ts';
import type { RailAClient } from './rail-a-client.ts';
import { type Rail, RailError } from './types.ts';

type Ask = <T>(call: (client: RailAClient) => Promise<T>) => Promise<T>;

const WORD_MAX = 64;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** `closed` ends a complaint or a question of the bank: it was lost where the rail has taken money for it. */
function statusOf(status: unknown, deducted: number): DisputeStatus | null {
  switch (status) {
    case 'open':
    case 'under_review':
      return 'open';
    case 'won':
    case 'lost':
      return status;
    case 'closed':
      return deducted > 0 ? 'lost' : 'won';
    default:
      return null;
  }
}

/** A dispute as the rail shows it; null when it lacks what a booking needs. */
export function disputeOfRailA(dispute: JsonObject): DisputeFact | null {
  const [ref, payment_ref, currency] = ['id', 'payment_id', 'currency'].map((name) => textOf(dispute[name]));
  const { amount, respond_by } = dispute;
  const deducted = Number.isSafeInteger(dispute['amount_deducted'])
    ? (dispute['amount_deducted'] as number)
    : 0;
  const status = statusOf(dispute['status'], deducted);
  if (ref == null || payment_ref == null || currency == null || status === null) return null;
  if (!Number.isSafeInteger(amount) || (amount as number) < 1) return null;
  return {
    kind: 'dispute',
    ref,
    payment_ref,
    // What was taken in the end may be less than what was disputed.
    amount_minor: status === 'lost' && deducted > 0 ? deducted : (amount as number),
    currency: currency.toUpperCase(),
    status,
    phase: (textOf(dispute['phase']) ?? 'chargeback').slice(0, WORD_MAX),
    reason: (textOf(dispute['reason_code']) ?? 'unknown').slice(0, WORD_MAX),
    respond_by:
      Number.isSafeInteger(respond_by) && (respond_by as number) > 0
        ? new Date((respond_by as number) * 1_000)
        : null,
  };
}

/** The calls about disputes. @throws RailError when the rail's own object lacks what a booking needs. */
export function railADisputes(ask: Ask): Pick<Rail, 'readDispute'> {
  return {
    async readDispute(ref) {
      const dispute: unknown = await ask(({ sdk }) => sdk.disputes.fetch(ref));
      const fact = isObject(dispute) ? disputeOfRailA(dispute) : null;
      if (fact !== null) return fact;
      throw new RailError('The payment rail returned a dispute that says too little.', { declined: false });
    },
  };
}
