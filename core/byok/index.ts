export { type ByokBook, type OrgKeys, type OwnKey, openByokBook } from './book.ts';
export { byokOperations } from './operations.ts';
export type { Probe, ProviderKeys } from './types.ts';
