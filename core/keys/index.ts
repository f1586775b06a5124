export { effectiveLimits } from './grant.ts';
export { createKey, type KeyWishes } from './issue.ts';
export { keyOperations } from './operations.ts';
export { CURRENT_SVC_VERSION, coversScope, svcVersions } from './rights.ts';
export { type KeyRingOptions, openKeyRing } from './ring.ts';
export { checksumHolds, hasKeyForm, keyHint, newKeySecret } from './secret.ts';
export { findSubjectOwner } from './store.ts';
export type {
  KeyDataPolicy,
  KeyGrant,
  KeyLimits,
  KeyPolicyWish,
  KeyRing,
  KeyRow,
  KeyStatus,
} from './types.ts';
