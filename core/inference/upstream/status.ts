// What an HTTP status of a provider means by itself (docs/outcomes.md#faults-of-a-provider). Its error object may be
// more specific.
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

/** Class of a status that has a class of its own; otherwise undefined. */
export function classOfStatus(status: number): FaultClass | undefined {
  return byStatus[status];
}

/** Class by the first digit of the status: 4xx is the caller's fault, everything else the provider's. */
export function generalClass(status: number): FaultClass {
  return status >= 400 && status < 500 ? 'client' : 'server';
}
