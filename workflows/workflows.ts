// All workflows by their type; the entry point of the bundle.
export { planPeriod } from './plan-period/workflow.ts';
export { refund } from './refund/workflow.ts';
export { topUp } from './top-up/workflow.ts';
