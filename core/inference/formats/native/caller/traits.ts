// What all native routes have in common.
import { STEERING } from '../../../caller/openai.ts';
import type { Dialect } from '../../../canonical/contract.ts';

export const nativeTraits = {
  spared: [...STEERING, 'route', 'user', 'session', 'budget'],
  account: null,
  repeats: false,
  operation: 'chat',
} as const satisfies Partial<Dialect>;
