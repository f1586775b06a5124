export type { KeyDataPolicy, KeyGrant, KeyLimits, KeyRing } from './types.ts';
