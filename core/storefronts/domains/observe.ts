// What name servers say about a domain: first what has to be there, and only where the token is not found what else explains it.
import type { DnsAnswer, Egress } from '../../egress/index.ts';
import { recordOf } from '../host-name.ts';

/** Answers about a domain; `judge` says what they mean. */
export interface Observed {
  readonly txt: DnsAnswer;
  readonly routing: Routing | null;
  readonly why: Diagnosis | null;
}

/** Where the name leads, and where it should. */
export interface Routing {
  readonly cname: DnsAnswer;
  readonly a: DnsAnswer;
  readonly aaaa: DnsAnswer;
  readonly base_a: DnsAnswer;
  readonly base_aaaa: DnsAnswer;
  /** The closest CAA records, of the name or of what it lies in (RFC 8659, 3), and whose they are. */
  readonly caa: DnsAnswer;
  readonly caa_at: string;
}

/** Where a token stands that was put in the wrong place. */
export interface Diagnosis {
  /** TXT at the domain itself. */
  readonly apex: DnsAnswer;
  /** TXT where a provider has appended the zone to a name that was given whole. */
  readonly doubled: DnsAnswer;
  readonly doubled_at: string;
  /** CNAME where the TXT record should be. */
  readonly cname: DnsAnswer;
  /** Name servers of the registered domain. */
  readonly zone: DnsAnswer;
}

interface Target {
  readonly domain: string;
  /** The part of it that was registered. */
  readonly registered: string;
  /** Where it should lead; null: the installation has no storefronts, and nothing is asked. */
  readonly base: string | null;
}

/** The names in which `domain` lies, itself first, up to the registered one. */
function pathOf(domain: string, registered: string): string[] {
  const names = [domain];
  for (let name = domain; name !== registered && name.includes('.'); ) {
    name = name.slice(name.indexOf('.') + 1);
    names.push(name);
  }
  return names;
}

async function closestCaa(dns: Egress, names: readonly string[]): Promise<[DnsAnswer, string]> {
  const answers = await Promise.all(names.map((name) => dns.askDns('CAA', name)));
  const at = answers.findIndex(({ kind }) => kind === 'records' || kind === 'failed');
  return at === -1 ? [{ kind: 'no_records' }, names[0] as string] : [answers[at]!, names[at]!];
}

async function observeRouting(
  dns: Egress,
  domain: string,
  registered: string,
  base: string,
): Promise<Routing> {
  const [cname, a, aaaa, base_a, base_aaaa, [caa, caa_at]] = await Promise.all([
    dns.askDns('CNAME', domain),
    dns.askDns('A', domain),
    dns.askDns('AAAA', domain),
    dns.askDns('A', base),
    dns.askDns('AAAA', base),
    closestCaa(dns, pathOf(domain, registered)),
  ]);
  return { cname, a, aaaa, base_a, base_aaaa, caa, caa_at };
}

async function diagnose(dns: Egress, { domain, registered }: Target): Promise<Diagnosis> {
  const record = recordOf(domain);
  // The zone is the registered domain as a rule, and the domain itself where that was delegated.
  const places = [...new Set([`${record}.${registered}`, `${record}.${domain}`])];
  const [apex, cname, zone, ...doubled] = await Promise.all([
    dns.askDns('TXT', domain),
    dns.askDns('CNAME', record),
    dns.askDns('NS', registered),
    ...places.map((place) => dns.askDns('TXT', place)),
  ]);
  const at = Math.max(
    0,
    doubled.findIndex(({ kind }) => kind === 'records'),
  );
  return { apex, cname, zone, doubled: doubled[at]!, doubled_at: places[at]! };
}

/** Asks for everything that decides about `target`, whose record should hold `token`. Never throws. */
export async function observe(dns: Egress, target: Target, token: string): Promise<Observed> {
  const { domain, registered, base } = target;
  const [txt, routing] = await Promise.all([
    dns.askDns('TXT', recordOf(domain)),
    base === null ? null : observeRouting(dns, domain, registered, base),
  ]);
  const is_there = txt.kind === 'records' && txt.values.includes(token);
  return { txt, routing, why: is_there ? null : await diagnose(dns, target) };
}
