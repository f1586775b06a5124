// Questions to name servers about names that users gave, with answers that say why there is nothing: a person who set up a
// record wants to know which of the many reasons it is.
import type { Resolver } from 'node:dns/promises';

export type RecordType = 'TXT' | 'CNAME' | 'A' | 'AAAA' | 'CAA' | 'NS';

export type DnsAnswer =
  /** TXT: the strings of a record joined. CAA: `issue authority`. Names in lower case, without a dot at the end. */
  | { readonly kind: 'records'; readonly values: readonly string[] }
  /** The name is not there at all (NXDOMAIN). */
  | { readonly kind: 'no_name' }
  /** It is, without a record of this type. */
  | { readonly kind: 'no_records' }
  | { readonly kind: 'failed'; readonly why: 'timeout' | 'refused' | 'server_failed' | 'malformed' };

const failures: Readonly<Record<string, 'timeout' | 'refused' | 'server_failed' | 'malformed'>> = {
  ETIMEOUT: 'timeout',
  ECONNREFUSED: 'timeout',
  EREFUSED: 'refused',
  ESERVFAIL: 'server_failed',
  EBADRESP: 'malformed',
  EFORMERR: 'malformed',
};

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');

async function valuesOf(resolver: Resolver, type: RecordType, name: string): Promise<string[]> {
  switch (type) {
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    case 'CNAME':
      return (await resolver.resolveCname(name)).map(plain);
    case 'NS':
      return (await resolver.resolveNs(name)).map(plain);
    case 'A':
      return resolver.resolve4(name);
    case 'AAAA':
      return resolver.resolve6(name);
    case 'CAA':
      return (await resolver.resolveCaa(name)).flatMap(({ issue }) =>
        typeof issue === 'string' ? [`issue ${issue}`] : [],
      );
  }
}

/** Asks for the records of `type` at `name`. Never throws: that there is no answer is one. */
export async function askDns(resolver: Resolver, type: RecordType, name: string): Promise<DnsAnswer> {
  try {
    const values = await valuesOf(resolver, type, name);
    return values.length === 0 ? { kind: 'no_records' } : { kind: 'records', values };
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (code === 'ENOTFOUND') return { kind: 'no_name' };
    if (code === 'ENODATA') return { kind: 'no_records' };
    return { kind: 'failed', why: failures[code] ?? 'malformed' };
  }
}
