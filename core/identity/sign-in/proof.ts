// The proof of a person that some acts ask for.
import { ServiceError, type SessionCaller } from '../../kernel/index.ts';

/** A proof of the person counts this long. */
const PROOF_MS = 15 * 60_000;

/** How the person of a session can prove who they are. */
function proofsOf({ sso_org_id, two_factor }: SessionCaller): readonly string[] {
  if (sso_org_id !== undefined) return ['sso'];
  return two_factor ? ['password', 'totp'] : ['password'];
}

/** @throws ServiceError reauthentication_required, unless the person was proved within the last 15 minutes before `at`. */
export function refuseUnproved(caller: SessionCaller, at: Date): void {
  if (at.getTime() - caller.proved_at.getTime() <= PROOF_MS) return;
  throw new ServiceError('reauthentication_required', 'Prove who you are again, then repeat this.', {
    details: { methods: proofsOf(caller) },
  });
}
