export type {
  Balance,
  Hold,
  HoldResult,
  IdempotencyClaim,
  LedgerClient,
  MeteredUnits,
  MeterOutcome,
  Settle,
  SettleResult,
  Subject,
} from './types.ts';
