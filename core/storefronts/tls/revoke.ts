// One revocation at the authority. It is asked for until the authority has answered, and what it answers is the end: it is the
// authority that publishes what is revoked.
import { type Db, type Log, now, secureUnit } from '../../kernel/index.ts';
import type { AcmeClient } from './acme.ts';
import { AcmeError, type CertificateFault } from './faults.ts';
import { endRevocation, postponeRevocation, type Revocation } from './revoke-store.ts';
import { retryAt } from './schedule.ts';

/** What says nothing of the certificate: it is asked again. */
const PASSING: readonly CertificateFault[] = ['authority_away', 'rate_limited', 'account_refused'];

/** How an attempt ended: the authority has revoked it, will not, could not be asked, or was not because the process ends. */
type Outcome =
  | { readonly kind: 'revoked' | 'not_revoked' | 'left' }
  | { readonly kind: 'failed'; readonly error: AcmeError };

/** One attempt, under the lease of `work`. */
export async function revokeOne(
  db: Db,
  work: Revocation,
  by: { readonly account: Promise<AcmeClient>; readonly log: Log; is_closed(): boolean },
): Promise<Outcome> {
  const { domain } = work;
  try {
    await (await by.account).revoke(work.chain);
    await endRevocation(db, work);
    return { kind: 'revoked' };
  } catch (error) {
    if (by.is_closed()) {
      await postponeRevocation(db, { ...work, step: 0, next_at: now() });
      return { kind: 'left' };
    }
    // What is no word of the authority is a defect or our own database.
    const said = error instanceof AcmeError ? error : new AcmeError('authority_away', 'We could not ask.');
    if (said !== error) by.log.error({ domain, error }, 'a revocation cannot be worked on');
    by.log.warn({ domain, error: said.message }, 'a certificate is not revoked');
    if (!PASSING.includes(said.fault)) {
      await endRevocation(db, work);
      return { kind: 'not_revoked' };
    }
    const { retry_after_ms } = said;
    const next_at = retryAt(work.failures + 1, { now: now(), retry_after_ms, die: secureUnit() });
    await postponeRevocation(db, { ...work, step: 1, next_at });
    return { kind: 'failed', error: said };
  }
}
