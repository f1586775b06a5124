export { type Changes, openChanges } from './changes.ts';
export { advanceClock, followClock, readClockShift, resetClock } from './dev-clock.ts';
export { type Job, type Leader, lead } from './leader.ts';
export { OrgCache } from './org-cache.ts';
