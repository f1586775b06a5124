// Versions of what can be changed: a read says which one it shows, and a write can name the one it is meant for.
import { ServiceError } from '../errors.ts';
import type { Context } from './operation.ts';

/** Weak (RFC 9110 8.8.1): figures that are shown beside the settings change without it. */
function tagOf(updated_at: Date): string {
  return `W/"${updated_at.getTime().toString(36)}"`;
}

/** Sends the `ETag` of a row whose settings last changed at `updated_at`. */
export function sendVersion(context: Context, updated_at: Date): void {
  context.header('etag', tagOf(updated_at));
}

/**
 * Refuses a write whose `If-Match` names neither this version nor `*`; to be called with the row locked. Tags are compared
 * weakly, as there are no others here. @throws ServiceError precondition_failed.
 */
export function refuseOtherVersion(context: Context, updated_at: Date): void {
  const asked = context.requestHeader('if-match');
  if (asked === null) return;
  const present = tagOf(updated_at);
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  const named = asked.split(',').map(opaque);
  if (named.includes('*') || named.includes(opaque(present))) return;
  throw new ServiceError('precondition_failed', 'The object has changed since it was read. Read it again.', {
    param: 'If-Match',
    details: { etag: present },
  });
}
