export { endBatch, makeBatch } from './batch.ts';
export {
  listRedemptionsOperation,
  RedemptionView,
  redeemOperation,
  redeemOperations,
} from './operations.ts';
export {
  BatchView,
  closeBatchOperation,
  createBatchOperation,
  listBatchesOperation,
  MAKE_CODES,
  makeApproved,
  staffRedeemOperations,
} from './staff.ts';
export { listBatches, purgeMisses } from './store.ts';
