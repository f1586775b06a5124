export { settleGifts, takeGift } from './give.ts';
export {
  cancelGiftOperation,
  createGiftOperation,
  GiftView,
  giftOperations,
  listGiftsOperation,
} from './operations.ts';
export { giftStatuses } from './types.ts';
