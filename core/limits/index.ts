export { type ManagementScope, managementError, managementSubject } from './management.ts';
export { openMemoryLimits } from './memory.ts';
export { openRedisLimits } from './redis.ts';
export { limitError, planSubject, requestSubjectOf, subjectOf, subjectOfKey } from './subject.ts';
export {
  type Gauge,
  isRefusal,
  type LimitRefusal,
  type LimitScope,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  type LimitView,
  type Rates,
  type Rejections,
  type Standing,
} from './types.ts';
