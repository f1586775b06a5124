export {
  type Claim,
  findClaim,
  finishClaim,
  freeClaim,
  purgeClaims,
  storeAnswer,
} from './claim-store.ts';
export { type LedgerHandle, type LedgerOptions, openLedger } from './client.ts';
export { ulidToUuid, uuidToUlid } from './encode.ts';
export { DEBIT_KINDS, ENTRY_KINDS, type EntryKind, OTHER_UNITS, type OtherUnit } from './kinds.ts';
export { type Swept, sweepOnce } from './lease-store.ts';
export { openNullLedger } from './null-ledger.ts';
export { writeEvent } from './outbox-store.ts';
export {
  type BudgetWindow,
  type Entry,
  type Lot,
  type Metered,
  meteredUsage,
  readBalance,
  readEntries,
  readKeySpend,
  readLots,
  readMeter,
  readWindows,
  readWriteoff,
} from './read-store.ts';
export {
  type Budget,
  type Credit,
  type Credited,
  credit,
  type Debit,
  type Debited,
  debit,
  expireLots,
  findBook,
  makeMeterPartitions,
  openBook,
  type Reference,
  resumeBudget,
  setBudget,
  setLowMark,
} from './store.ts';
export type {
  Balance,
  Hold,
  HoldResult,
  IdempotencyClaim,
  LedgerClient,
  MeteredUnits,
  MeterOutcome,
  OtherUnits,
  Settle,
  SettleResult,
  Subject,
} from './types.ts';
export { type Finding, type VerifyReport, verifyLedger } from './verify.ts';
export { dumpLedger } from './verify-store.ts';
