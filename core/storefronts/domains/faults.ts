// Everything that can be wrong with a domain: who mends it, and how (docs/resellers/domains.md#what-can-be-wrong).
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf } from '../../kernel/index.ts';

export const actors = ['you', 'dns_provider', 'service'] as const;

interface Remedy {
  /** Who can mend it. */
  readonly who: (typeof actors)[number];
  readonly fix: string;
}

export const faults = {
  domain_missing: {
    who: 'you',
    fix: 'The domain itself is not in the DNS. Register it, or set its name servers at the registrar, and verify again.',
  },
  record_missing: {
    who: 'you',
    fix: 'Publish the TXT record at this name. A new one is seen after minutes to hours.',
  },
  token_missing: {
    who: 'you',
    fix: 'There are TXT records at this name, and none is the token. Add it beside them.',
  },
  token_differs: {
    who: 'you',
    fix: 'The token of somebody else stands here. Replace it by the expected value, or add this one beside it.',
  },
  token_old: {
    who: 'you',
    fix: 'This is the token of an earlier time. Replace it by the expected value.',
  },
  token_quoted: {
    who: 'you',
    fix: 'The quotation marks became part of the value. Enter it without them.',
  },
  token_altered: {
    who: 'you',
    fix: 'The value differs in spaces or in capital letters. Copy it again as it is.',
  },
  token_at_domain: {
    who: 'you',
    fix: 'The token stands at the domain itself. Move it to the name of the record, which begins with _svc-storefront.',
  },
  name_doubled: {
    who: 'you',
    fix: 'The provider has appended the domain to the name. Enter only the part before it.',
  },
  record_is_cname: {
    who: 'you',
    fix: 'A CNAME stands at this name, often of a wildcard, and hides the TXT record. Add the TXT record at exactly this name.',
  },
  dns_timeout: {
    who: 'dns_provider',
    fix: 'No name server answered. Wait some minutes; if it stays so, ask whoever runs the name servers of the domain.',
  },
  dns_refused: {
    who: 'dns_provider',
    fix: 'The name servers refuse to answer for this domain. Look whether the registrar names the right ones.',
  },
  dns_server_failed: {
    who: 'dns_provider',
    fix: 'The answer failed (SERVFAIL), mostly for wrong DNSSEC: a DS record at the registrar that does not fit the keys.',
  },
  dns_malformed: {
    who: 'dns_provider',
    fix: 'The name servers answer in a form that cannot be read. Ask whoever runs them.',
  },
  cname_missing: {
    who: 'you',
    fix: 'Nothing says where the domain leads. Add a CNAME to the expected name.',
  },
  apex_needs_alias: {
    who: 'you',
    fix: 'A domain itself can have no CNAME. Add an ALIAS or ANAME to the expected name, or use a name below it, as ai.',
  },
  cname_elsewhere: {
    who: 'you',
    fix: 'The CNAME leads elsewhere. Change it to the expected name.',
  },
  target_doubled: {
    who: 'you',
    fix: 'The provider has appended the domain to the target. End the target with a dot.',
  },
  address_elsewhere: {
    who: 'you',
    fix: 'The addresses are of another server or of a proxy. Switch the proxy off for this name, and use a CNAME to the expected name.',
  },
  address_private: {
    who: 'you',
    fix: 'The address is of a private network, which nobody outside reaches. Use a CNAME to the expected name.',
  },
  base_unresolved: {
    who: 'service',
    fix: 'The expected name has no address itself. Whoever runs this service has to mend it.',
  },
  ipv6_elsewhere: {
    who: 'you',
    fix: 'The IPv6 address leads elsewhere, and browsers take it first. Delete the AAAA record.',
  },
  caa_forbids: {
    who: 'you',
    fix: 'CAA records allow other authorities only, so that no certificate can be issued. Add the expected one, or delete them.',
  },
} as const satisfies Record<string, Remedy>;

export type Fault = keyof typeof faults;
export const faultNames = Object.keys(faults) as Fault[];
export const checkNames = ['ownership', 'routing', 'ipv6', 'certificate'] as const;
export const recordTypes = ['TXT', 'CNAME', 'AAAA', 'CAA'] as const;

export const CheckView = named(
  'StorefrontDomainCheck',
  Type.Object({
    name: oneOf(checkNames, 'StorefrontDomainCheckName'),
    type: oneOf(recordTypes, 'StorefrontDomainRecordType'),
    host: Type.String({ description: 'the name of the record' }),
    expected: Type.String(),
    observed: Type.Array(Type.String(), { description: 'what is there, or where it was found instead' }),
    ok: Type.Boolean(),
    fault: nullable(oneOf(faultNames, 'StorefrontDomainFault')),
    who: nullable(oneOf(actors, 'StorefrontDomainActor')),
    fix: nullable(Type.String({ description: 'what to do' })),
  }),
);
export type Check = Static<typeof CheckView>;
