// The rate limit of all routes except inference (docs/limits.md#requests-beside-inference): one count per key or
// session, and one per address on public routes. A request is counted once its caller is known, before anything else
// is read.
import { addressPrefix } from '@svc/core/identity/index.ts';
import { goDuration } from '@svc/core/inference/index.ts';
import type { Caller } from '@svc/core/kernel/index.ts';
import {
  isRefusal,
  type ManagementScope,
  managementError,
  managementSubject,
} from '@svc/core/limits/index.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressOf } from './caller.ts';
import type { HttpParts, ManagementRate } from './parts.ts';

function subjectOf(caller: Caller, address: () => string | null): { scope: ManagementScope; id: string } {
  switch (caller.kind) {
    case 'key':
      return { scope: 'key', id: caller.key_id };
    case 'session':
      return { scope: 'session', id: caller.session_id };
    case 'staff':
      return { scope: 'session', id: caller.session_id ?? caller.name };
    case 'scim':
      return { scope: 'key', id: caller.token_id };
    case 'public':
      return { scope: 'address', id: addressPrefix(address()) ?? 'none' };
  }
}

function rpmOf({ kind }: Caller, { management_rpm, scim_rpm, public_rpm }: ManagementRate): number {
  if (kind === 'public') return public_rpm;
  return kind === 'scim' ? scim_rpm : management_rpm;
}

/**
 * Counts one request of `caller` and sets the rate-limit headers on `reply`.
 * @throws ServiceError rate_limit_exceeded.
 */
export async function takeTurn(
  { rate, services }: HttpParts,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
): Promise<void> {
  if (rate === undefined) return;
  const rpm = rpmOf(caller, rate);
  if (rpm === 0) return;
  const { scope, id } = subjectOf(caller, () => addressOf(services.sign_in, request));
  const entered = await rate.limits.enter(managementSubject(scope, id, rpm));
  const { requests } = entered.gauges;
  if (requests !== null) {
    reply.headers({
      'x-ratelimit-limit-requests': String(requests.limit),
      'x-ratelimit-remaining-requests': String(requests.remaining),
      'x-ratelimit-reset-requests': goDuration(requests.reset_ms),
    });
  }
  if (isRefusal(entered)) throw managementError(scope, entered);
  // Only requests are limited, not how many run at once.
  entered.leave();
}
