export { ulidToUuid, uuidToUlid } from './batch/encode.ts';
export { checkCheckpoint } from './checkpoint/check.ts';
export { checkProof, type Proven } from './checkpoint/check-proof.ts';
export { proveCall } from './checkpoint/proof.ts';
export { newestCheckpoint } from './checkpoint/store.ts';
export { checkpointSigner, takeCheckpoint, takeDailyCheckpoint } from './checkpoint/take.ts';
export {
  type Claim,
  findClaim,
  finishClaim,
  freeClaim,
  purgeClaims,
  storeAnswer,
} from './claim-store.ts';
export { openLedger } from './client.ts';
export { endGrants } from './grants-store.ts';
export { ENTRY_KINDS, type EntryKind, OTHER_UNITS, type OtherUnit } from './kinds.ts';
export { sweepOnce } from './lease/store.ts';
export { abortMove, endWithoutOld } from './move/end.ts';
export { moveLedger, STEPS, type Step } from './move/move.ts';
export { checkPlace, openPlace, type Place, readLeft, readSizes } from './move/place-store.ts';
export { readMoves, readRecords, type ShardRecord, setOpen } from './move/record-store.ts';
export { openNullLedger } from './null-ledger.ts';
export { type NewFact, writeEvent, writeEvents } from './outbox-store.ts';
export {
  type BudgetWindow,
  countLowBooks,
  type Entry,
  findBelow,
  type Lot,
  type Metered,
  meteredUsage,
  readBalance,
  readBalances,
  readEntries,
  readKeySpend,
  readLots,
  readMeter,
  readTaken,
  readUnused,
  readWindows,
  readWriteoff,
} from './read-store.ts';
export { readCharged, readLotUse } from './report/charged-store.ts';
export {
  findSpanOf,
  listMetered,
  listMeteredAlike,
  type MeteredAlike,
  sumMetered,
} from './report/metered-store.ts';
export {
  type CrossedDay,
  type DayMovements,
  type EndingCredit,
  findPlace,
  type KindTotal,
  listCrossed,
  listEnding,
  listMovedBooks,
  sumDays,
  sumEntries,
  sumKinds,
} from './report/store.ts';
export { RUN_LENGTH_MAX, runOf } from './runs/name.ts';
export { purgeRuns, readRun } from './runs/store.ts';
export { openLedgers } from './shards/ledgers.ts';
export { measureLoad } from './shards/load.ts';
export { readLoad } from './shards/load-store.ts';
export {
  type Budget,
  type Credited,
  credit,
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
export { applyDueTasks } from './tasks/apply.ts';
export {
  bookedCredit,
  catchUp,
  chargeBackOutcome,
  creditOutcome,
  debitOutcome,
  orderBook,
  orderBudget,
  orderChargeBack,
  orderCredit,
  orderDebit,
  orderLowMark,
  orderPlanCharge,
  orderRestore,
  orderResumption,
  planChargeOutcome,
  restoreOutcome,
} from './tasks/order.ts';
export { readTaskBacklog } from './tasks/store.ts';
export type {
  Balance,
  Hold,
  IdempotencyClaim,
  LedgerClient,
  LedgerFigures,
  LedgerHandle,
  LedgerOptions,
  Ledgers,
  MeteredUnits,
  OtherUnits,
  PlacedSubject,
  RunBudget,
  Settle,
  Subject,
} from './types.ts';
export { dumpLedger } from './verify/store.ts';
export { type Finding, type VerifyReport, verifyLedger } from './verify/verify.ts';
