export { isDatabaseFault } from './faults.ts';
export { type Listener, listen } from './listen.ts';
export { listMigrations, type Migrated, type Migration, migrate } from './migrate.ts';
export { createPool, type Pool } from './pool.ts';
export { readSetting, writeSetting } from './settings-store.ts';
