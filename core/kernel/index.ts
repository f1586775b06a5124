export {
  certificateRequest,
  ecJwk,
  ecKey,
  ecSign,
  makeSigningKey,
  readCertificate,
  readServerCertificate,
  rsaKeyPair,
  type ServerCertificate,
} from './certificates.ts';
export { machineMs, monotonicMs, now, nowMs, rowTime, shiftClock } from './clock.ts';
export {
  type Config,
  ConfigError,
  readConfig,
  readSecretVariable,
  type Setting,
  settings,
} from './config.ts';
export {
  BASE62,
  checksum,
  checksumHolds,
  crc32,
  Ed25519Key,
  ed25519Verify,
  equalBytes,
  hashOfEndUser,
  hkdfSha256,
  hmacSha256,
  isSignedBy,
  type PublicKey,
  readEd25519Key,
  readPublicKeys,
  Sha256,
  seal,
  sha256,
  sha256Hex,
  unseal,
} from './crypto.ts';
export { csv } from './csv.ts';
export { type Currency, currencies, decimalOf, exponentOf, formatMoney, isCurrency } from './currency.ts';
export { codes, type ErrorCode, type ErrorType, ServiceError } from './errors.ts';
export {
  CROCKFORD,
  crockford,
  crockford26,
  type Id,
  isId,
  isRequestId,
  type Kind,
  newId,
  newRequestId,
  newUlid,
  prefixes,
  type RequestId,
  ulidMs,
} from './ids.ts';
export {
  canonicalJson,
  compact,
  duplicateRefused,
  isObject,
  type JsonObject,
  membersInSteps,
  membersOf,
  parseJson,
  refuseDuplicates,
  stringEndIn,
} from './json.ts';
export { createLog, type Log, openLog, silentLog } from './log.ts';
export {
  buildInfo,
  byLabel,
  closeListener,
  type Figure,
  listenAt,
  type Reading,
  registerFigures,
  scrape,
  version,
} from './metrics.ts';
export {
  bps,
  type MicroUsd,
  microUsd,
  milliNanoFromDecimal,
  mulDivCeil,
  mulDivFloor,
  mulDivHalfUp,
  type NanoUsd,
  nanoUsd,
} from './money.ts';
export { type Walk, walkPage } from './operation/cursor.ts';
export { namesOfManifest, writingManifest } from './operation/manifest.ts';
export {
  type Audience,
  type Caller,
  type Context,
  type Db,
  type Environment,
  EventAnswer,
  FileAnswer,
  type KeyCaller,
  type MemberCaller,
  type Operation,
  operation,
  orgCaller,
  type ResellerGrant,
  type Role,
  resellerGrants,
  type ScimCaller,
  type Scope,
  type Services,
  type SessionCaller,
  type Shards,
  type StaffCaller,
  type StaffRole,
  type Statement,
  scopes,
  staffRoles,
} from './operation/operation.ts';
export { refuseOtherVersion, sendVersion } from './operation/version.ts';
export { type Program, runProgram } from './program.ts';
export { secureBytes, secureText, secureUnit } from './random.ts';
export { type JsonSchema, pathText, type SchemaFault, type Step, schemaFaults } from './schema/faults.ts';
export {
  cursorOf,
  documented,
  idOf,
  invalid,
  isTime,
  lineOf,
  listOf,
  Nothing,
  named,
  nameOf,
  notFound,
  nullable,
  oneOf,
  page,
  pageInput,
  pageOf,
  requestId,
  Time,
  TimeIn,
  textFormats,
  timeInMs,
} from './schema/schema.ts';
export {
  addRootKey,
  checkpointSeed,
  deriveFrom,
  deriveKey,
  deriveKeys,
  findRootKey,
  loadRootKey,
  promoteRootKey,
  type RootKey,
  type RootKeyRing,
  removeRootKey,
  rootKeys,
} from './secrets/keyring.ts';
export {
  headerOf,
  isSealedUnderCurrent,
  openColumn,
  type RowKey,
  type SealedColumnName,
  sealColumn,
  sealedColumn,
  sealedColumns,
} from './secrets/sealed.ts';
export { hashCode, hashesOfCode, hintOf, type KeyedHash, keyedHash, newCode } from './secrets/typed-code.ts';
export type { SignUpMode } from './settings/sign-up.ts';
export { type Example, SECONDS, Spread } from './spread.ts';
export { atOnce, eachInSteps, mapInSteps, readingBy, type Steps } from './steps.ts';
export { within } from './within.ts';
