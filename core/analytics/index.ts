export { openRequestLog, type RequestLogOptions } from './log.ts';
export { analyticsOperations } from './operations.ts';
export type { AttemptOutcome, AttemptRow, RequestLog, RequestRow, RowStatus } from './types.ts';
