import { domainOperations } from './domains/operations.ts';
import { storefrontOperations as settingsOperations } from './operations.ts';

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
export { getStorefrontOperation, putStorefrontOperation } from './operations.ts';
export { storefrontSettings } from './settings.ts';
export { registrations, StorefrontView } from './types.ts';

/** What people of a reseller do about its storefront, and what everybody sees of it. */
export const storefrontOperations = [...settingsOperations, ...domainOperations] as const;
