export { beat, readWorkflowHealth } from './health.ts';
export {
  markSignalled,
  markStarted,
  purgeWorkflows,
  signalWorkflow,
  startWorkflow,
  takeSignals,
  takeStarts,
  type WaitingSignal,
  type WorkflowStart,
} from './store.ts';
