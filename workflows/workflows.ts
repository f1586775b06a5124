// Every workflow, by its type; what the bundle is made of.
export { topUp } from './top-up/workflow.ts';
