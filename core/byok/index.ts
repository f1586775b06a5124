export { type ByokCache, type OrgKeys, type OwnKey, openByokCache } from './cache.ts';
export { byokOperations } from './operations.ts';
export type { Probe, ProviderKeys } from './types.ts';
