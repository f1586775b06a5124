// All workflows by their type; the entry point of the bundle.
export { topUp } from './top-up/workflow.ts';
