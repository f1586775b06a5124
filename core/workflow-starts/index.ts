export { beat, readWorkflowHealth, type WorkflowHealth } from './health.ts';
export {
  markSignalled,
  markStarted,
  purgeWorkflows,
  readWaiting,
  signalWorkflow,
  startWorkflow,
  takeSignals,
  takeStarts,
  type WaitingSignal,
  type WorkflowSignal,
  type WorkflowStart,
} from './store.ts';
