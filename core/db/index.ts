export { listMigrations, type Migration, migrate } from './migrate.ts';
export { createPool, type Pool } from './pool.ts';
