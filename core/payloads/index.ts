export { openPayloadLog } from './log.ts';
export { findPayloadStates, readPayload } from './read.ts';
export { purgePayloads } from './retention.ts';
export { erasePayloads, preparePayloadDays } from './store.ts';
export {
  type NewPayload,
  type Payload,
  type PayloadLog,
  type PayloadSlot,
  type PayloadState,
  payloadStates,
} from './types.ts';
