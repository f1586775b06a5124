// What is kept of a caller's address.

let last = { address: '', prefix: '' };

/** The network of an address: IPv4 /24, IPv6 /48; '' when there is none. */
export function networkPrefix(address: string | undefined): string {
  if (address === undefined) return '';
  // Callers behind one load balancer share an address, and most of all others call more than once in a row.
  if (address !== last.address) last = { address, prefix: prefixOf(address) };
  return last.prefix;
}

function prefixOf(address: string): string {
  const v4 = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(v4)) return `${v4.split('.').slice(0, 3).join('.')}.0/24`;
  const groups = address.split('%')[0]?.split('::')[0]?.split(':').filter(Boolean) ?? [];
  return `${groups.slice(0, 3).join(':')}::/48`;
}
