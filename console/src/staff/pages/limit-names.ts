// The limits that staff grant, as they are named and shown.

export const limitNames = ['rpm', 'tpm', 'concurrency'] as const;
export type LimitName = (typeof limitNames)[number];
export const limitLabels = { rpm: 'Calls a minute', tpm: 'Tokens a minute', concurrency: 'At once' } as const;
