// How a sign-in over a provider is refused, and what the organization's log has of it.
import { type Context, ServiceError } from '../../kernel/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { NOBODY } from '../sign-in/sign-in.ts';
import type { Connection } from './types.ts';

/** What a person is told when the provider's answer could not be used; `reason` is the word for the admin. */
export function failed(reason: string): ServiceError {
  return new ServiceError('sso_failed', 'The sign-in at your identity provider did not work. Try again.', {
    details: { reason },
  });
}

/** Refused sign-ins are in the organization's log without the address that came: it may be anybody's. */
export async function recordRefusal(
  context: Context,
  { org_id, kind }: Pick<Connection, 'org_id' | 'kind'>,
  error: ServiceError,
): Promise<void> {
  const { reason } = (error.details ?? {}) as { reason?: string };
  await writeAudit(context, {
    ...{ action: 'auth.login', org_id, outcome: 'denied', actor: NOBODY },
    after: { method: kind, code: error.code, ...(reason === undefined ? {} : { reason }) },
  });
}
