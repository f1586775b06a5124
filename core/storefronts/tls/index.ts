export type { AcmeSettings } from './acme.ts';
export { certificateFaultNames } from './faults.ts';
export { CertificateIssuer, type CertificateOutcome } from './issuer.ts';
export { CertificateMemory } from './memory.ts';
export { certificateSource } from './settings.ts';
export { type CertificateCounts, findChallenge } from './store.ts';
export { certificateStates } from './view.ts';
