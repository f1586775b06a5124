export { beat, readWorkflowHealth } from './health.ts';
export {
  claimLook,
  clearStepFailure,
  countWorkflows,
  findLook,
  listWorkflows,
  noteStepFailure,
  replaceOpen,
  type SeenWorkflow,
} from './open-store.ts';
export {
  ENCRYPTED,
  isSealedPayload,
  KEY_ID,
  notePayloadKey,
  notePayloadsOpen,
  openPayload,
  type PayloadKey,
  type PayloadText,
  readPayloadKey,
  sealPayload,
} from './payloads.ts';
export {
  markSignalled,
  markStarted,
  purgeWorkflows,
  readWaiting,
  readWaitingSignals,
  signalWorkflow,
  startWorkflow,
  takeSignals,
  takeStarts,
  type WaitingSignal,
  type WorkflowStart,
} from './store.ts';
