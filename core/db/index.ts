export { isDatabaseFault } from './faults.ts';
export { type Listener, listen } from './listen.ts';
export { listMigrations, migrate, migrateLedger } from './migrate.ts';
export { createPool, type Pool } from './pool.ts';
export { readSetting, writeSetting } from './settings-store.ts';
export { inLedgerSchema, ledgerNaming, ledgerSchemaOf, withLedgerSchema } from './shard.ts';
