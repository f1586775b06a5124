import { domainOperations } from './domains/operations.ts';
import { storefrontOperations as settingsOperations } from './operations.ts';

export { surroundingsOf } from './around.ts';
export {
  actors as domainActors,
  CheckView,
  checkNames,
  faultNames,
  recordTypes,
} from './domains/faults.ts';
export {
  addDomainOperation,
  DomainView,
  listDomainsOperation,
  removeDomainOperation,
  verifyDomainOperation,
} from './domains/operations.ts';
export { recheckStorefronts } from './domains/recheck.ts';
export { hostKey, isOwnHost } from './host-name.ts';
export { HostMemory } from './hosts.ts';
export {
  getStorefrontOperation,
  ownStorefrontOperation,
  putStorefrontOperation,
  readStorefrontAt,
} from './operations.ts';
export { type StorefrontSettings, settingsOf, storefrontSettings } from './settings.ts';
export {
  type AcmeSettings,
  type CertificateCounts,
  CertificateIssuer,
  CertificateMemory,
  type CertificateOutcome,
  certificateFaultNames,
  certificateSource,
  certificateStates,
  findChallenge,
} from './tls/index.ts';
export { PublicStorefrontView, registrations, StorefrontView } from './types.ts';

/** What people of a reseller do about its storefront, and what everybody sees of it. */
export const storefrontOperations = [...settingsOperations, ...domainOperations] as const;
