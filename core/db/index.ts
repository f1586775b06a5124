export { configuredDatabase, type DatabaseAddresses, databaseAddresses, isPrepared } from './address.ts';
export { checkAddresses } from './direct-store.ts';
export { databaseAway, isDatabaseFault } from './faults.ts';
export { type Listener, listen } from './listen.ts';
export {
  listMigrations,
  migrate,
  migrateLedger,
  serverOfLedger,
  spreadLedger,
  statementsOf,
} from './migrate.ts';
export { fixedPlacement, isLeft, type Placement } from './placement.ts';
export { createPool, openPlaced, type Pool, type Reach } from './pool.ts';
export { leadsToSpread, meetLedger, refuseStandby } from './primary-store.ts';
export { queryAlone, queryIn, type Scope, scopeOf } from './scope.ts';
export { readSetting, writeSetting } from './settings-store.ts';
export {
  eachShard,
  inLedgerSchema,
  ledgerNaming,
  ledgerSchemaOf,
  MAIN,
  type ShardAddress,
  type ShardPlaces,
  shardPlaces,
  withLedgerSchema,
} from './shard.ts';
