export { compareDay } from './compare.ts';
export { compareRails, findComparison, isDue } from './daily.ts';
export { askForDay, comparisonsOf } from './store.ts';
export { type FeeTotal, sumFees } from './totals-store.ts';
export { type Comparison, type Finding, isAsked } from './types.ts';
