// Holds the money of a drafted call, in at most two rounds: the remembered balance may be out of date, so the
// committed balance decides.
import type { Endpoint } from '../../../catalog/index.ts';
import { type MicroUsd, microUsd, type RequestId, ServiceError, ulidMs } from '../../../kernel/index.ts';
import type { LedgerClient, RunBudget } from '../../../ledger/index.ts';
import {
  affordableTokens,
  type EndpointReserve,
  holdMicroUsd,
  type Reserve,
  type ReserveInput,
  reserve,
} from '../../../pricing/index.ts';
import type { RoutePlan } from '../../../routing/index.ts';
import { askBefore, ledgerUnavailable, ledgerUnaware } from '../patience.ts';
import type { CallDeps, Incoming } from '../types.ts';
import type { Draft } from './draft.ts';

export interface Money {
  readonly amount_micro_usd: MicroUsd;
  readonly endpoints: readonly EndpointReserve[];
  readonly hold_input: ReserveInput;
}

/**
 * Holds for `draft` on the most expensive endpoint of `route`; returns `claimed` when its Idempotency-Key is already
 * claimed.
 * @throws ServiceError insufficient_credits with `affordable_max_tokens`, budget_exhausted, service_unavailable.
 */
export async function holdMoney(
  deps: CallDeps,
  incoming: Incoming,
  draft: Draft,
  route: RoutePlan,
): Promise<Money | 'claimed'> {
  const { idempotency, budget } = draft;
  const { subject } = incoming.grant;
  const ledger = deps.ledgers.at(subject.shard);
  let endpoints = route.plan.map((item) => item.endpoint);
  let available = ledger.availableHint(subject.book_id);
  // When credit determines the cap, the balance is needed; with a cap from the caller the hold alone decides.
  let committed = available === null && !draft.cap_given;
  if (committed) available = await availableNow(ledger, subject.book_id);
  for (let again = false; ; again = true) {
    let hold_input: ReserveInput = { ...draft.hold_input, available_micro_usd: available };
    let wanted = reserve(endpoints, hold_input);
    if (!committed && isCutByCredit(wanted, endpoints)) {
      // The remembered balance may be older than a top-up that another process booked.
      committed = true;
      available = await availableNow(ledger, subject.book_id);
      hold_input = { ...hold_input, available_micro_usd: available };
      wanted = reserve(endpoints, hold_input);
    }
    if (wanted.status === 'ok') {
      refuseAboveCap(incoming, wanted.amount_micro_usd);
      const result = await ledger.hold({
        ...subject,
        request_id: incoming.request_id,
        amount_micro_usd: wanted.amount_micro_usd,
        ...(idempotency === null ? {} : { idempotency: idempotency.claim }),
        ...(budget === null ? {} : { budget }),
      });
      if (result.status === 'ok') return { ...wanted, hold_input };
      if (result.status === 'claimed') return 'claimed';
      if (result.status === 'budget_exhausted' && result.scope === 'run')
        throw await runRefusal(ledger, incoming, budget as RunBudget, wanted.amount_micro_usd);
      if (result.status !== 'insufficient_credits') throw holdRefusal(result, incoming);
    }
    // The remembered balance may be too low or too high: the committed one is read before the caller is refused.
    available = await availableNow(ledger, subject.book_id);
    committed = true;
    if (again || !mayFit(wanted, hold_input, available)) {
      // The balance may cover a call with the caller's own key even when it does not cover one at pool prices.
      const own = endpoints.filter((endpoint) => endpoint.own_key !== undefined);
      if (own.length > 0 && own.length < endpoints.length) {
        endpoints = own;
        continue;
      }
      const required = wanted.status === 'ok' ? wanted.amount_micro_usd : null;
      throw insufficient(endpoints, hold_input, required, available);
    }
  }
}

/** What `holdMoney` would hold, computed from the same figures, and the balance it would come from. */
export interface HoldPreview {
  readonly wanted: Reserve;
  readonly hold_input: ReserveInput;
  readonly available_micro_usd: number;
}

/**
 * Computes the hold of `draft` on `endpoints` without taking it. @throws ServiceError service_unavailable without a
 * ledger.
 */
export async function previewHold(
  deps: CallDeps,
  incoming: Incoming,
  draft: Pick<Draft, 'hold_input'>,
  endpoints: readonly Endpoint[],
): Promise<HoldPreview> {
  const { shard, book_id } = incoming.grant.subject;
  const ledger = deps.ledgers.at(shard);
  const preview = (available: number) => {
    const hold_input: ReserveInput = { ...draft.hold_input, available_micro_usd: available };
    return { wanted: reserve(endpoints, hold_input), hold_input, available_micro_usd: available };
  };
  const hint = ledger.availableHint(book_id);
  const first = preview(hint ?? (await availableNow(ledger, book_id)));
  const fits = first.wanted.status === 'ok' && first.wanted.amount_micro_usd <= first.available_micro_usd;
  const stands = fits && !isCutByCredit(first.wanted, endpoints);
  return hint === null || stands ? first : preview(await availableNow(ledger, book_id));
}

/** Whether the balance lowers a cap on `endpoints` or excludes one of them. */
function isCutByCredit(wanted: Reserve, endpoints: readonly Endpoint[]): boolean {
  if (wanted.status !== 'ok') return false;
  return wanted.endpoints.length < endpoints.length || wanted.endpoints.some((one) => one.capped_by_credit);
}

function mayFit(wanted: ReturnType<typeof reserve>, hold_input: ReserveInput, available: number): boolean {
  if (wanted.status === 'ok' && wanted.amount_micro_usd <= available) return true;
  return hold_input.max_tokens === null && available !== hold_input.available_micro_usd;
}

async function availableNow(ledger: LedgerClient, book_id: number): Promise<number> {
  return (await askBefore(ledger.balance(book_id))).available_micro_usd;
}

/** Says what the budget of the run is used up by; holds of calls that run are given back in part when they end. */
async function runRefusal(
  ledger: LedgerClient,
  { grant }: Incoming,
  { run, max_micro_usd }: RunBudget,
  required: MicroUsd,
): Promise<ServiceError> {
  const found = await askBefore(ledger.run(grant.subject.book_id, run));
  const { spent_micro_usd, held_micro_usd } = found ?? { spent_micro_usd: 0, held_micro_usd: 0 };
  return new ServiceError(
    'budget_exhausted',
    `The run's budget is ${max_micro_usd} micro-USD: ${spent_micro_usd} spent and ${held_micro_usd} held by calls ` +
      `that run; this call can cost ${required}.`,
    {
      details: {
        scope: 'run',
        max_micro: max_micro_usd,
        spent_micro: spent_micro_usd,
        held_micro: held_micro_usd,
        required_micro: required,
      },
    },
  );
}

function holdRefusal(result: { status: string; scope?: string; reason?: string }, incoming: Incoming): Error {
  if (result.status === 'unavailable') return ledgerUnavailable();
  if (result.status === 'unknown') return ledgerUnaware();
  if (result.status === 'budget_exhausted') {
    const scope = result.scope as 'key' | 'project';
    return new ServiceError('budget_exhausted', `The ${scope}'s budget is used up until it resets.`, {
      details: { scope, resets_at: resetsAt(scope, incoming.request_id) },
    });
  }
  return new Error(`hold of ${incoming.request_id} refused: ${result.reason ?? result.status}`);
}

/**
 * A call whose hold is above its cap is not made: with less held it would be made at our expense.
 * @throws ServiceError budget_exhausted.
 */
function refuseAboveCap({ cost_cap_micro_usd: cap }: Incoming, required: MicroUsd): void {
  if (cap == null || required <= cap) return;
  throw new ServiceError('budget_exhausted', 'The call can cost more than its cap.', {
    details: { scope: 'call', required_micro: required, cap_micro: cap },
  });
}

/** End of the budget window in which the call began: the key's UTC day, or the project's UTC month. */
function resetsAt(scope: 'key' | 'project', request_id: RequestId): string {
  const at = new Date(ulidMs(request_id));
  const end =
    scope === 'key'
      ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1)
      : Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  return new Date(end).toISOString();
}

function insufficient(
  endpoints: readonly Endpoint[],
  hold_input: ReserveInput,
  required: number | null,
  available: number,
): ServiceError {
  const affordable = Math.max(
    ...endpoints.map((endpoint) => affordableTokens(endpoint, hold_input, available)),
  );
  const least = required ?? Math.min(...endpoints.map((endpoint) => holdMicroUsd(endpoint, hold_input, 16)));
  return new ServiceError(
    'insufficient_credits',
    `The balance does not cover this call; top up${hold_input.max_tokens === 0 ? '' : ' or lower max_tokens'}.`,
    {
      details: {
        required_micro: microUsd(least),
        available_micro: available,
        affordable_max_tokens: affordable,
      },
    },
  );
}
