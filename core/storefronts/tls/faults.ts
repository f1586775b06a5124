// Why a domain has no certificate yet: who mends it, and how (docs/resellers/domains.md#certificates). Pure.
import type { actors } from '../domains/faults.ts';

interface Remedy {
  readonly who: (typeof actors)[number];
  readonly fix: string;
}

export const certificateFaults = {
  name_unresolved: {
    who: 'you',
    fix: 'The authority finds no address of the domain. Publish the CNAME, and look at what `routing` says.',
  },
  unreachable: {
    who: 'you',
    fix: 'The authority does not reach the domain on port 80. Look where its records lead, IPv6 too, and whether something in front keeps port 80 closed.',
  },
  wrong_answer: {
    who: 'you',
    fix: 'Another server answers the authority at this domain. Let its records lead here, without a proxy.',
  },
  caa_forbids: {
    who: 'you',
    fix: 'CAA records do not let this authority issue. Add it, or delete them.',
  },
  name_refused: {
    who: 'you',
    fix: 'The authority issues no certificate for this name. Use another one.',
  },
  rate_limited: {
    who: 'service',
    fix: 'The authority has issued or refused too many certificates lately. We ask again by ourselves.',
  },
  account_refused: {
    who: 'service',
    fix: 'The authority does not accept the account of this service. Whoever runs it has to mend it.',
  },
  authority_away: {
    who: 'service',
    fix: 'The authority cannot be reached or fails. We ask again by ourselves.',
  },
  authority_refuses: {
    who: 'service',
    fix: 'The authority refuses. Whoever runs this service can look at its words.',
  },
} as const satisfies Record<string, Remedy>;

export type CertificateFault = keyof typeof certificateFaults;
export const certificateFaultNames = Object.keys(certificateFaults) as CertificateFault[];

/** Problems of RFC 8555, 6.7, by what they are here. */
const problems: Readonly<Record<string, CertificateFault>> = {
  dns: 'name_unresolved',
  connection: 'unreachable',
  tls: 'unreachable',
  unauthorized: 'wrong_answer',
  incorrectResponse: 'wrong_answer',
  caa: 'caa_forbids',
  rejectedIdentifier: 'name_refused',
  unsupportedIdentifier: 'name_refused',
  rateLimited: 'rate_limited',
  accountDoesNotExist: 'account_refused',
  externalAccountRequired: 'account_refused',
  userActionRequired: 'account_refused',
  invalidContact: 'account_refused',
  unsupportedContact: 'account_refused',
  serverInternal: 'authority_away',
};

/** The fault that a problem of type `type` is. */
export function faultOfProblem(type: string): CertificateFault {
  const name = type.replace('urn:ietf:params:acme:error:', '');
  return Object.hasOwn(problems, name) ? (problems[name] as CertificateFault) : 'authority_refuses';
}

/** What an authority said, or that it said nothing. */
export class AcmeError extends Error {
  readonly fault: CertificateFault;
  /** As the authority named it; '' where it did not. */
  readonly type: string;
  /** How long the authority wants to be left alone; null: it did not say. */
  readonly retry_after_ms: number | null;

  constructor(
    fault: CertificateFault,
    detail: string,
    more: { type?: string; retry_after_ms?: number | null } = {},
  ) {
    super(detail);
    this.fault = fault;
    this.type = more.type ?? '';
    this.retry_after_ms = more.retry_after_ms ?? null;
  }
}
