// From what name servers said to what is wrong, who can mend it, and how. Pure, so that each fault has its row in a test
// (docs/resellers/domains.md#what-can-be-wrong lists them).
import type { DnsAnswer } from '../../egress/index.ts';
import { recordOf } from '../host-name.ts';
import { type Check, type Fault, faults } from './faults.ts';
import type { Diagnosis, Observed, Routing } from './observe.ts';

/** Shown of what was seen: enough to recognize it. */
const SHOWN_MAX = 10;
const LENGTH_MAX = 200;

interface Subject {
  readonly domain: string;
  readonly registered: string;
  readonly token: string;
  /** Tokens that the reseller had for this domain before. */
  readonly past_tokens: readonly string[];
  readonly base: string | null;
  readonly ca: string;
}

const valuesOf = (answer: DnsAnswer) => (answer.kind === 'records' ? answer.values : []);

/** Zones are other people's: nothing in them reaches a page with control characters or without an end. */
function shown(values: readonly string[]): string[] {
  return values.slice(0, SHOWN_MAX).map((value) => {
    const characters = [...value.replaceAll(/\p{Cc}+/gu, ' ')];
    return characters.length <= LENGTH_MAX ? value : `${characters.slice(0, LENGTH_MAX).join('')}…`;
  });
}

type Place = Pick<Check, 'name' | 'type' | 'host' | 'expected'>;

function checkOf(place: Place, observed: readonly string[], fault: Fault | null): Check {
  const said = fault === null ? { who: null, fix: null } : faults[fault];
  return { ...place, observed: shown(observed), ok: fault === null, fault, ...said };
}

function failureOf(answer: DnsAnswer): Fault | null {
  return answer.kind === 'failed' ? (`dns_${answer.why}` as const) : null;
}

const unquoted = (value: string) => value.replaceAll(/^\s*["'“”]+|["'“”]+\s*$/g, '');
const squeezed = (value: string) => value.replaceAll(/\s+/g, '').toLowerCase();

/** What is wrong with the values at the right place, when none is the token. */
function valueFault(values: readonly string[], { token, past_tokens }: Subject): Fault {
  if (values.some((value) => value !== token && unquoted(value) === token)) return 'token_quoted';
  if (values.some((value) => squeezed(value) === squeezed(token))) return 'token_altered';
  if (values.some((value) => past_tokens.includes(value))) return 'token_old';
  if (values.some((value) => value.startsWith('svc-verify='))) return 'token_differs';
  return 'token_missing';
}

/** Why the token is not found where nothing or something else stands: the first thing that explains it. */
function ownershipFault(txt: DnsAnswer, why: Diagnosis, subject: Subject): [Fault, readonly string[]] {
  const failed = failureOf(txt);
  if (failed !== null) return [failed, []];
  const values = valuesOf(txt);
  const there = values.length === 0 ? null : valueFault(values, subject);
  if (there !== null && there !== 'token_missing') return [there, values];
  const doubled = valuesOf(why.doubled);
  if (doubled.includes(subject.token))
    return ['name_doubled', doubled.map((value) => `${why.doubled_at}: ${value}`)];
  const apex = valuesOf(why.apex);
  if (apex.includes(subject.token))
    return ['token_at_domain', apex.filter((value) => value === subject.token)];
  const cname = valuesOf(why.cname);
  if (cname.length > 0) return ['record_is_cname', cname];
  if (there !== null) return [there, values];
  return [why.zone.kind === 'no_name' ? 'domain_missing' : 'record_missing', []];
}

function judgeOwnership({ txt, why }: Observed, subject: Subject): Check {
  const host = recordOf(subject.domain);
  const place: Place = { name: 'ownership', type: 'TXT', host, expected: subject.token };
  if (why === null) return checkOf(place, valuesOf(txt), null);
  const [fault, seen] = ownershipFault(txt, why, subject);
  return checkOf(place, seen, fault);
}

/** Networks that nobody outside reaches (RFC 1918, RFC 6598, loopback, link-local). */
const PRIVATE =
  /^(?:10\.|127\.|0\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

const isWithin = (values: readonly string[], allowed: readonly string[]) =>
  values.length > 0 && values.every((value) => allowed.includes(value));

function cnameFault(target: string, base: string): Fault {
  return target.startsWith(`${base}.`) ? 'target_doubled' : 'cname_elsewhere';
}

function routingFault(routing: Routing, subject: Subject, base: string): Fault | null {
  const { cname, a, base_a } = routing;
  if (base_a.kind !== 'records') return 'base_unresolved';
  const failed = failureOf(cname) ?? failureOf(a);
  if (failed !== null) return failed;
  const [target] = valuesOf(cname);
  if (target === base) return null;
  const addresses = valuesOf(a);
  // A provider that resolves the target itself (ALIAS, flattening) leads to the same place, as does a chain of names.
  if (isWithin(addresses, base_a.values)) return null;
  if (target !== undefined) return cnameFault(target, base);
  if (addresses.length === 0)
    return subject.domain === subject.registered ? 'apex_needs_alias' : 'cname_missing';
  return addresses.some((address) => PRIVATE.test(address)) ? 'address_private' : 'address_elsewhere';
}

function judgeRouting(routing: Routing, subject: Subject, base: string): Check {
  const place = { name: 'routing', type: 'CNAME', host: subject.domain, expected: base } as const;
  const seen = [...valuesOf(routing.cname), ...valuesOf(routing.a)];
  return checkOf(place, seen, routingFault(routing, subject, base));
}

/** Browsers with IPv6 take its address first: one that was left behind sends half the visitors elsewhere. */
function judgeIpv6({ cname, aaaa, base_aaaa }: Routing, subject: Subject, base: string): Check {
  const ours = valuesOf(base_aaaa);
  const expected = ours.length === 0 ? 'no record of its own' : ours.join(', ');
  const place: Place = { name: 'ipv6', type: 'AAAA', host: subject.domain, expected };
  const seen = valuesOf(aaaa);
  const is_ours = seen.length === 0 || valuesOf(cname)[0] === base || isWithin(seen, ours);
  return checkOf(place, seen, is_ours ? null : 'ipv6_elsewhere');
}

function judgeCertificate({ caa, caa_at }: Routing, { domain, ca }: Subject): Check {
  const place = { name: 'certificate', type: 'CAA', expected: `no record, or issue ${ca}` } as const;
  const seen = valuesOf(caa);
  // "issue ;" lets nobody issue; parameters behind a name do not matter here.
  const allowed = seen.map((value) => value.slice('issue '.length).split(';', 1)[0]?.trim().toLowerCase());
  const failed = failureOf(caa);
  const fault = seen.length === 0 || allowed.includes(ca) ? failed : 'caa_forbids';
  return checkOf({ ...place, host: seen.length === 0 ? domain : caa_at }, seen, fault);
}

/** What is right and wrong with a domain. Only `ownership` decides whether it is proved; the others, whether it works. */
export function judge(observed: Observed, subject: Subject): Check[] {
  const { routing } = observed;
  const { base } = subject;
  const ownership = judgeOwnership(observed, subject);
  if (routing === null || base === null) return [ownership];
  return [
    ownership,
    judgeRouting(routing, subject, base),
    judgeIpv6(routing, subject, base),
    judgeCertificate(routing, subject),
  ];
}
