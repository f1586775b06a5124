// Wire shapes of the credits routes.
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf, requestId, Time } from '../kernel/index.ts';
import { ENTRY_KINDS } from '../ledger/index.ts';

export const BalanceView = named(
  'Balance',
  Type.Object({
    available_micro_usd: Type.Integer(),
    held_micro_usd: Type.Integer(),
    granted_micro_usd: Type.Integer(),
    display: Type.Object({ currency: Type.String(), amount: Type.String({ description: 'decimal' }) }),
    currency: Type.String(),
    fx_rate: Type.String({ description: 'decimal with 8 places' }),
  }),
);
export type BalanceView = Static<typeof BalanceView>;

export const EntryView = named(
  'LedgerEntry',
  Type.Object({
    seq: Type.Integer(),
    kind: oneOf(ENTRY_KINDS, 'LedgerEntryKind'),
    amount_micro_usd: Type.Integer({ description: 'signed' }),
    request_id: nullable(requestId()),
    ref_type: nullable(Type.String()),
    ref_id: nullable(Type.String()),
    created_at: Time,
    // New columns come last, so that programs that read the CSV by position still work.
    balance_after_micro_usd: Type.Integer({ description: 'available + held after this entry' }),
    document_id: nullable(Type.String({ description: 'invoice of a top-up, credit note of a refund' })),
    document_number: nullable(Type.String({ description: 'what people call that document' })),
  }),
);
export type EntryView = Static<typeof EntryView>;
