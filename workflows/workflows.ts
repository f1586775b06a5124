// All workflows by their type; the entry point of the bundle.
export { refund } from './refund/workflow.ts';
export { topUp } from './top-up/workflow.ts';
