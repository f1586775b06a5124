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
  staffRedeemOperations,
} from './staff.ts';
export { listBatches, purgeMisses } from './store.ts';
