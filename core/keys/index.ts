export { memberKeys } from './departure.ts';
export { lockAllKeys, revokeAllKeys } from './departure-store.ts';
export { notifyExpiringKeys } from './expiry.ts';
export { statusAt } from './grants/grant.ts';
export {
  grantOfRun,
  peopleNumber,
  RUN_PREFIX,
  type RunClaims,
  readRunCredential,
  runCredential,
  runSecret,
} from './grants/run-grant.ts';
export { grantOfSession } from './grants/session-grant.ts';
export { createKey } from './issue.ts';
export { purgeKeyNotices } from './notice-store.ts';
export {
  createKeyOperation,
  deleteKeyOperation,
  getKeyOperation,
  keyOperations,
  listKeysOperation,
  patchKeyOperation,
  resumeKeyOperation,
  rotateKeyOperation,
} from './operations.ts';
export { keysInUse, readKeys } from './read.ts';
export { coversScope, roleBehind, svcVersions } from './rights.ts';
export { openKeyRing } from './ring.ts';
export { CreateKeyInput, KeyBudget, KeyView, keyStatuses, PatchKeyInput } from './schema.ts';
export { hasKeyForm, keyHint, newKeySecret } from './secret.ts';
export {
  findKey,
  findKeyMaker,
  findKeys,
  findKeysOfAll,
  findSubjectOwner,
  hasWorkingKeys,
  listChains,
  listKeys,
  lockKey,
  updateKey,
} from './store.ts';
export type { Grant, KeyDataPolicy, KeyGrant, KeyRing, KeyRow, KeyStatus, OwnDataPolicy } from './types.ts';
export { sightOf, viewKeys } from './view.ts';
