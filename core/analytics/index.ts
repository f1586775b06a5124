export { adviceKinds } from './advice/advise.ts';
export { adviceRanges, getUsageAdviceOperation, UsageAdviceView } from './advice/operation.ts';
export { backfill, type CopiedDay } from './backfill/backfill.ts';
export {
  firstSights,
  readAppDays,
  sumModels,
  sumOwnApps,
} from './days/app-store.ts';
export {
  type EndpointDay,
  readEndpointDays,
  STEP,
  type StepCount,
  sumEndpoints,
  sumSteps,
} from './days/store.ts';
export { dayBefore, dropSums, readAppSums, SUMMED_DAYS, sumAppWindows, sumDays } from './days/sum.ts';
export { readDetails } from './details.ts';
export { type Analytics, openAnalytics } from './engine/open.ts';
export { postgresReader, readerOf } from './engine/postgres.ts';
export type { OrgDay, RowKeeper, RowReader } from './engine/types.ts';
export { getLimitsOperation } from './limits-view.ts';
export { type ArrivedRow, openRequestFeed, type RequestFeed } from './live/feed.ts';
export { openRequestLog } from './log.ts';
export {
  analyticsOperations,
  getGenerationOperation,
  getRequestOperation,
  listRequestsOperation,
} from './operations.ts';
export { type Answered, summariseArrivals } from './read-store.ts';
export { rebuildRows } from './rebuild/rebuild.ts';
export { rollUpUsage } from './roll-up.ts';
export { type ArmCounts, type CanarySamples, takeSamples } from './samples/store.ts';
export { Generation, RowDetail, RowView } from './schema.ts';
export { dropOldDays, prepareDays } from './store.ts';
export {
  lockSubjectCalls,
  type SubjectCall,
  unlinkCalls,
} from './subjects/store.ts';
export type { AttemptOutcome, RequestLog, RequestRow, RowStatus } from './types.ts';
export { attemptOutcomes, rowStatuses } from './types.ts';
export { usageGranularities, usageRange, usageRanges } from './usage/buckets.ts';
export { allPartsOf, exportOf, groupSeriesInput, partsOf, usageParts } from './usage/shape.ts';
export { getUsageOperation, sumUsageByDay, UsageView, usageGroupings } from './usage.ts';
export { sumMissing, sumSpans } from './values/sum.ts';
export {
  createUsageViewOperation,
  deleteUsageViewOperation,
  listUsageViewsOperation,
  SavedUsageView,
  updateUsageViewOperation,
} from './views/operations.ts';
