export { isDatabaseFault } from './faults.ts';
export { type Listener, listen } from './listen.ts';
export { listMigrations, migrate, migrateLedger } from './migrate.ts';
export { createPool, type Pool } from './pool.ts';
export { readSetting, writeSetting } from './settings-store.ts';
export {
  eachShard,
  inLedgerSchema,
  ledgerNaming,
  ledgerSchemaOf,
  MAIN,
  type ShardAddress,
  shardAddresses,
  withLedgerSchema,
} from './shard.ts';
