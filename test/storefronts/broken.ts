// Zones in which something is wrong with a domain that was right, and what has to be said about it.
import type { NameServer } from '../sim/dns.ts';
import { BASE, BASE_ADDRESS, type Claim } from './world.ts';

/** Sets the zone of a domain whose claim is `made`; everything is right before. */
type Break = (made: Claim, zone: NameServer['zone']) => void;

/** What is wrong, as each simulated fault of a zone, and the check that has to say so. */
export const broken: readonly (readonly [fault: string, check: string, of: string, set: Break])[] = [
  [
    'record_missing',
    'ownership',
    'no record at the name',
    ({ record }, zone) => zone.delete(`TXT ${record}`),
  ],
  [
    ...(['domain_missing', 'ownership', 'a domain that does not exist'] as const),
    ({ record, domain }, zone) => {
      zone.delete(`TXT ${record}`);
      zone.delete(`CNAME ${domain}`);
    },
  ],
  [
    ...(['token_missing', 'ownership', 'other records alone'] as const),
    ({ record }, zone) => zone.set(`TXT ${record}`, ['v=spf1 -all', 'google-site-verification=x']),
  ],
  [
    ...(['token_differs', 'ownership', "somebody else's token"] as const),
    ({ record }, zone) => zone.set(`TXT ${record}`, [`svc-verify=${'x'.repeat(32)}`]),
  ],
  [
    ...(['token_quoted', 'ownership', 'quotation marks in the value'] as const),
    ({ record, token }, zone) => zone.set(`TXT ${record}`, [`"${token}"`]),
  ],
  [
    ...(['token_altered', 'ownership', 'a space in the value'] as const),
    ({ record, token }, zone) => zone.set(`TXT ${record}`, [token.replace('=', '= ')]),
  ],
  [
    ...(['token_altered', 'ownership', 'a value in small letters'] as const),
    ({ record, token }, zone) => zone.set(`TXT ${record}`, [token.toLowerCase()]),
  ],
  [
    ...(['token_at_domain', 'ownership', 'the token at the domain itself'] as const),
    ({ record, token, domain }, zone) => {
      zone.delete(`TXT ${record}`);
      zone.delete(`CNAME ${domain}`);
      zone.set(`A ${domain}`, [BASE_ADDRESS]);
      zone.set(`TXT ${domain}`, ['v=spf1 -all', token]);
    },
  ],
  [
    ...(['name_doubled', 'ownership', 'a zone that was appended to a whole name'] as const),
    ({ record, token, domain }, zone) => {
      zone.delete(`TXT ${record}`);
      zone.set(`TXT ${record}.${domain.slice(3)}`, [token]);
    },
  ],
  [
    ...(['record_is_cname', 'ownership', 'a wildcard that hides the record'] as const),
    ({ record }, zone) => {
      zone.delete(`TXT ${record}`);
      zone.set(`CNAME ${record}`, ['parking.example']);
      zone.set('A parking.example', ['198.51.100.9']);
    },
  ],
  [
    'dns_timeout',
    'ownership',
    'a server that says nothing',
    ({ record }, zone) => zone.set(`TXT ${record}`, null),
  ],
  [
    'dns_refused',
    'ownership',
    'a server that refuses',
    ({ record }, zone) => zone.set(`TXT ${record}`, 'refuses'),
  ],
  [
    ...(['dns_server_failed', 'ownership', 'wrong DNSSEC'] as const),
    ({ record }, zone) => zone.set(`TXT ${record}`, 'fails'),
  ],
  [
    ...(['dns_malformed', 'ownership', 'an answer that cannot be read'] as const),
    ({ record }, zone) => zone.set(`TXT ${record}`, 'garbles'),
  ],
  ['cname_missing', 'routing', 'no CNAME', ({ domain }, zone) => zone.delete(`CNAME ${domain}`)],
  [
    ...(['cname_elsewhere', 'routing', 'a CNAME to another service'] as const),
    ({ domain }, zone) => {
      zone.set(`CNAME ${domain}`, ['old.elsewhere.example']);
      zone.set('A old.elsewhere.example', ['198.51.100.7']);
    },
  ],
  [
    ...(['target_doubled', 'routing', 'a zone that was appended to the target'] as const),
    ({ domain }, zone) => zone.set(`CNAME ${domain}`, [`${BASE}.${domain.slice(3)}`]),
  ],
  [
    ...(['address_elsewhere', 'routing', 'addresses of a proxy in place of the CNAME'] as const),
    ({ domain }, zone) => {
      zone.delete(`CNAME ${domain}`);
      zone.set(`A ${domain}`, ['104.16.0.1', '104.16.0.2']);
    },
  ],
  [
    ...(['address_private', 'routing', 'an address of a private network'] as const),
    ({ domain }, zone) => {
      zone.delete(`CNAME ${domain}`);
      zone.set(`A ${domain}`, ['10.0.0.7']);
    },
  ],
  ['base_unresolved', 'routing', 'our own name without an address', (_, zone) => zone.delete(`A ${BASE}`)],
  [
    ...(['ipv6_elsewhere', 'ipv6', 'an IPv6 address that was left behind'] as const),
    ({ domain }, zone) => {
      zone.delete(`CNAME ${domain}`);
      zone.set(`A ${domain}`, [BASE_ADDRESS]);
      zone.set(`AAAA ${domain}`, ['2606:2800:220:1::1']);
    },
  ],
  [
    ...(['caa_forbids', 'certificate', 'another authority alone, said at the domain above'] as const),
    ({ domain }, zone) => zone.set(`CAA ${domain.slice(3)}`, ['issue pki.goog']),
  ],
  [
    ...(['caa_forbids', 'certificate', 'nobody at all'] as const),
    ({ domain }, zone) => zone.set(`CAA ${domain}`, ['issue ;']),
  ],
];
