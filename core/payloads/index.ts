export { openPayloadLog, type PayloadLogOptions } from './log.ts';
export { findPayloadStates, readPayload } from './read.ts';
export { purgePayloads } from './retention.ts';
export { preparePayloadDays } from './store.ts';
export {
  type NewPayload,
  type Payload,
  type PayloadLog,
  type PayloadSlot,
  type PayloadState,
  type PayloadTexts,
  payloadStates,
} from './types.ts';
