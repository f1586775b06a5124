export { type ByokCache, type OrgKeys, type OwnKey, openByokCache } from './cache.ts';
export {
  byokOperations,
  createByokOperation,
  deleteByokOperation,
  listByokOperation,
  patchByokOperation,
  validateByokOperation,
} from './operations.ts';
export { ByokProviderView, ByokView, ValidationView } from './schema.ts';
export { byokStatuses, type Probe, type ProviderKeys } from './types.ts';
