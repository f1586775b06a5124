export { hashCode, hintOf, newCode } from './code.ts';
export { settleGifts, takeGift } from './give.ts';
export {
  cancelGiftOperation,
  createGiftOperation,
  GiftView,
  giftOperations,
  listGiftsOperation,
} from './operations.ts';
export { giftStatuses } from './types.ts';
