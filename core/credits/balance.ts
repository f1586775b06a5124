// Balances and entries as people read them.
import { findDocumentsOf, type NamedDocument } from '../invoices/index.ts';
import { type Db, isId } from '../kernel/index.ts';
import type { Balance, Entry } from '../ledger/index.ts';
import { type Currency, decimalOf, minorFor, rateText } from '../topups/index.ts';
import type { BalanceView, EntryView } from './schema.ts';

/** How a balance is shown: in the currency its organization pays in, at the mid rate of the day. */
interface Display {
  readonly currency: Currency;
  /** Units per US dollar, times 1e8. */
  readonly rate_e8: number;
}

/**
 * `balance` with its amounts in that currency, rounded down to the smallest unit, so that never more is shown than
 * there is.
 */
export function viewBalance(balance: Balance, { currency, rate_e8 }: Display): BalanceView {
  const { available_micro_usd } = balance;
  const shown_minor = minorFor(available_micro_usd, currency, rate_e8);
  return {
    available_micro_usd,
    held_micro_usd: balance.held_micro_usd,
    granted_micro_usd: balance.granted_micro_usd,
    display: { currency, amount: decimalOf(shown_minor, currency) },
    currency,
    fx_rate: rateText(rate_e8),
  };
}

/** The documents of those of `entries` that are about a payment or a refund. */
async function documentsOf(db: Db, entries: readonly Entry[]) {
  const refs = entries.flatMap(({ ref_id }) => (ref_id === null ? [] : [ref_id]));
  return findDocumentsOf(db, {
    topup_ids: refs.filter((ref) => isId('topup', ref)),
    refund_ids: refs.filter((ref) => isId('refund', ref)),
  });
}

/** Ledger entries on the wire; `db` has the documents. */
export async function viewEntries(db: Db, entries: readonly Entry[]): Promise<EntryView[]> {
  const documents = await documentsOf(db, entries);
  return entries.map((entry) => viewEntry(entry, documents.get(entry.ref_id ?? '') ?? null));
}

function viewEntry(entry: Entry, document: NamedDocument | null): EntryView {
  return {
    seq: entry.seq,
    kind: entry.kind,
    amount_micro_usd: entry.amount_micro_usd,
    balance_after_micro_usd: entry.balance_after_micro_usd,
    request_id: entry.request_id,
    ref_type: entry.ref_type,
    ref_id: entry.ref_id,
    created_at: entry.created_at.toISOString(),
    document_id: document?.id ?? null,
    document_number: document?.number ?? null,
  };
}
