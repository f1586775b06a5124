// Questions about calls may be asked by people too, where the route admits their role.
import { readCookie, SESSION_PREFIX } from '@svc/core/identity/index.ts';
import { type Audience, now, type SessionCaller } from '@svc/core/kernel/index.ts';
import { type Grant, grantOfSession } from '@svc/core/keys/index.ts';
import { admit, inferenceRoutes } from '@svc/core/operations/index.ts';
import { callerOf, type HttpParts } from '@svc/http/index.ts';
import type { FastifyRequest } from 'fastify';

const SESSION_BEARER = new RegExp(`^bearer +${SESSION_PREFIX}`, 'i');

/** The audiences of the inference routes that admit sessions, by path. */
const audiences: ReadonlyMap<string, Audience> = new Map(
  inferenceRoutes
    .filter(({ audience }) => audience.kind === 'key' && audience.session !== undefined)
    .map(({ path, audience }) => [path, audience]),
);

function carriesSession({ headers }: FastifyRequest, cookie: string): boolean {
  if (headers.authorization !== undefined) return SESSION_BEARER.test(headers.authorization);
  return headers['x-api-key'] === undefined && readCookie(headers.cookie, cookie).length > 0;
}

/** How `request` of `path` is admitted by its session; null when it carries none or the route takes keys only. */
export function sessionAdmission(
  parts: HttpParts,
  path: string,
  request: FastifyRequest,
): (() => Promise<Grant>) | null {
  const audience = audiences.get(path);
  if (audience === undefined || !carriesSession(request, parts.services.sign_in.cookies.session)) return null;
  return async () => {
    const caller = await callerOf(parts, request);
    admit({ audience, method: 'POST' }, caller, now());
    // No key begins like a session, and a session without an organization is not admitted.
    const place = { db: parts.pool, root_key: parts.services.root_key };
    return grantOfSession(place, caller as SessionCaller);
  };
}
