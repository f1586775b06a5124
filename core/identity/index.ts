export { changesOf, verifyAudit, writeAudit } from './audit.ts';
export { isSamePerson } from './email.ts';
export { addressPrefix, clientAddress, isInNetworks } from './network.ts';
export { identityOperations, staffListenerOperations } from './operations.ts';
export { listOrgsOperation } from './org-operations.ts';
export { createPerson, createStaff, resetPassword } from './people.ts';
export { purgeSignIn } from './purge.ts';
export { type SignInSettings, signInSettings } from './settings.ts';
export { findPeople } from './store.ts';
export {
  checkCsrf,
  clearedCookie,
  cookiePolicy,
  csrfOf,
  csrfToken,
  hasTokenForm,
  readCookie,
  SESSION_PREFIX,
  sessionCookie,
} from './token.ts';
export { totpCode } from './totp.ts';
export type { Person } from './types.ts';
export { verifySession, verifyStaff } from './verify.ts';
