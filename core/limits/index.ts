export { type ManagementScope, managementError, managementSubject } from './management.ts';
export { openMemoryLimits } from './memory.ts';
export { openRedisLimits } from './redis.ts';
export {
  limitError,
  planSubject,
  requestSubjectOf,
  subjectOf,
  subjectOfKey,
  subjectOfPlan,
  subjectOfProject,
} from './subject.ts';
export {
  type Gauge,
  type Gauges,
  isRefusal,
  type LimitBound,
  type LimitRefusal,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  type Rates,
} from './types.ts';
