// Words for endpoints, deliveries and what an attempt met.
import type { DeliveryRowFragment, WebhookRowFragment } from '../../api/gen/tools/graphql.ts';
import type { Shape, Tone } from '../../ui/status.tsx';

interface Mark {
  readonly tone: Tone;
  readonly shape: Shape;
  readonly word: string;
}

/** How an endpoint stands. */
export function standingOf(row: Pick<WebhookRowFragment, 'status' | 'failingSince'>): Mark {
  if (row.status === 'DISABLED') return { tone: 'mute', shape: 'mute', word: 'off' };
  return row.failingSince === null || row.failingSince === undefined
    ? { tone: 'ok', shape: 'ok', word: 'active' }
    : { tone: 'warn', shape: 'warn', word: 'failing' };
}

/** Why an endpoint is off, and what to do about it. */
export const offWords: Record<NonNullable<WebhookRowFragment['disabledReason']>, string> = {
  MANUAL: 'Somebody switched it off. Events that happen meanwhile are not sent later.',
  GONE: 'Your server answered 410 Gone, which means: send no more. What was queued was dropped.',
  FAILING:
    'Nothing was taken for five days, in ten attempts or more. What was queued was dropped. Switch it on again when the server works.',
  ORG_CLOSED: 'The organisation is closed.',
};

export const deliveryStates = ['QUEUED', 'DELIVERING', 'DELIVERED', 'FAILED', 'DROPPED'] as const;

export const deliveryMarks: Record<DeliveryRowFragment['status'], Mark> = {
  QUEUED: { tone: 'warn', shape: 'half', word: 'queued' },
  DELIVERING: { tone: 'warn', shape: 'run', word: 'delivering' },
  DELIVERED: { tone: 'ok', shape: 'ok', word: 'delivered' },
  FAILED: { tone: 'bad', shape: 'bad', word: 'failed' },
  DROPPED: { tone: 'mute', shape: 'mute', word: 'dropped' },
};

const errorWords: Readonly<Record<string, string>> = {
  timeout: 'no connection in 3 s, or no answer in 10 s',
  dns: 'the name does not resolve',
  tls: 'no TLS, or a certificate that is not trusted',
  refused: 'the connection was refused or cut, or the answer is not HTTP',
  blocked_address: 'the name leads to an address that is not public',
  redirect: 'the answer was a redirect; give the final address',
};

/** What an attempt met: a status, or in words why there is none. */
export function metBy({ code, error }: { readonly code: number; readonly error: string }): string {
  const words = errorWords[error];
  if (words === undefined) return code === 0 ? 'no answer' : `HTTP ${code}`;
  return code === 0 ? words : `HTTP ${code}: ${words}`;
}

/** The events of an endpoint on one line. */
export function eventsText(events: readonly string[]): string {
  if (events.includes('*')) return 'all events';
  return events.length <= 2 ? events.join(', ') : `${events.length} events`;
}
