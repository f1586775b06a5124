// The certificate of a domain, as its reseller sees it.
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf, Time } from '../../kernel/index.ts';
import { actors } from '../domains/faults.ts';
import { certificateFaultNames, certificateFaults } from './faults.ts';
import type { CertificateRow } from './store.ts';

/** `outside`: whatever stands in front of the service gets it, and we know nothing of it. */
export const certificateStates = ['outside', 'waiting', 'valid', 'failing', 'expired'] as const;

export const CertificateView = named(
  'StorefrontDomainCertificate',
  Type.Object({
    state: oneOf(certificateStates, 'StorefrontDomainCertificateState'),
    issuer: nullable(Type.String({ description: 'who issued the one in use' })),
    valid_until: nullable(Time),
    fault: nullable(oneOf(certificateFaultNames, 'StorefrontDomainCertificateFault')),
    detail: nullable(Type.String({ description: 'what the authority said' })),
    who: nullable(oneOf(actors, 'StorefrontDomainActor')),
    fix: nullable(Type.String({ description: 'what to do' })),
    failed_at: nullable(Type.String({ ...Time, description: 'when it last failed' })),
    next_at: nullable(Type.String({ ...Time, description: 'when it is looked at next' })),
  }),
);
type CertificateView = Static<typeof CertificateView>;

const nothing = {
  ...{ issuer: null, valid_until: null, fault: null, detail: null, who: null, fix: null },
  ...{ failed_at: null, next_at: null },
};

function stateOf({ not_after, fault }: CertificateRow, at: Date): CertificateView['state'] {
  if (not_after !== null) return not_after > at ? 'valid' : 'expired';
  return fault === null ? 'waiting' : 'failing';
}

/** The certificate of a proved domain; `row` undefined: it was proved a moment ago. A fault stands beside one that is valid. */
export function viewCertificate(
  row: CertificateRow | undefined,
  { is_ours, at }: { is_ours: boolean; at: Date },
): CertificateView {
  if (!is_ours) return { state: 'outside', ...nothing };
  if (row === undefined) return { state: 'waiting', ...nothing };
  const { fault } = row;
  return {
    ...{ state: stateOf(row, at), issuer: row.issuer, valid_until: row.not_after?.toISOString() ?? null },
    ...{
      fault,
      detail: row.fault_detail,
      ...(fault === null ? { who: null, fix: null } : certificateFaults[fault]),
    },
    ...{ failed_at: row.failed_at?.toISOString() ?? null, next_at: row.next_at.toISOString() },
  };
}
