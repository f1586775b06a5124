export { type Changes, openChanges } from './changes.ts';
export { advanceClock, followClock, readClockShift, resetClock } from './dev-clock.ts';
export { isDatabaseFault } from './faults.ts';
export { type Job, type JobCounts, type Leader, lead } from './leader.ts';
export { type Listener, listen } from './listen.ts';
export { listMigrations, type Migrated, type Migration, migrate } from './migrate.ts';
export { OrgBook } from './org-book.ts';
export { createPool, type Pool } from './pool.ts';
export { readSetting, writeSetting } from './settings-store.ts';
