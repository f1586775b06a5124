// All workflows by their type; the entry point of the bundle.

export { autoTopup } from './auto-top-up/workflow.ts';
export { dispute } from './dispute/workflow.ts';
export { erasure } from './erasure/workflow.ts';
export { evalRun } from './eval-run/workflow.ts';
export { invoiceIssue } from './invoice-issue/workflow.ts';
export { mandate } from './mandate/workflow.ts';
export { orgClose } from './org-close/workflow.ts';
export { orgErasure } from './org-erasure/workflow.ts';
export { planPeriod } from './plan-period/workflow.ts';
export { refund } from './refund/workflow.ts';
export { topUp } from './top-up/workflow.ts';
