export { type Resealed, resealAll } from './rotate.ts';
export { type Count, type KeyRingStatus, type KeyUse, readKeyRingStatus, total } from './status.ts';
