export { openRequestLog, type RequestLogOptions } from './log.ts';
export { analyticsOperations } from './operations.ts';
export { prepareDays } from './store.ts';
export type { AttemptOutcome, AttemptRow, RequestLog, RequestRow, RowStatus } from './types.ts';
