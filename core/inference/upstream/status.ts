// What an HTTP status of a provider says by itself (docs/outcomes.md#faults-of-a-provider); its error object may know
// better.
import type { FaultClass } from '../canonical/types.ts';

const byStatus: Readonly<Record<number, FaultClass>> = {
  400: 'client',
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'model_missing',
  408: 'server',
  409: 'server',
  413: 'too_large',
  422: 'client',
  424: 'server',
  425: 'server',
  429: 'rate_limit',
  499: 'server',
  503: 'overloaded',
  529: 'overloaded',
};

/** Class of a status that has a meaning of its own, or undefined. */
export function classOfStatus(status: number): FaultClass | undefined {
  return byStatus[status];
}

/** Class by the kind of a status alone: a 4xx is the caller's, everything else the provider's. */
export function generalClass(status: number): FaultClass {
  return status >= 400 && status < 500 ? 'client' : 'server';
}
