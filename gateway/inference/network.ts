// The part of a caller's network address that is stored.

let last = { address: '', prefix: '' };

/** The network that an address belongs to: IPv4 /24, IPv6 /48; '' when there is no address. */
export function networkPrefix(address: string | undefined): string {
  if (address === undefined) return '';
  // The last result is kept: callers behind one load balancer share an address, and most others call several times in
  // a row.
  if (address !== last.address) last = { address, prefix: prefixOf(address) };
  return last.prefix;
}

function prefixOf(address: string): string {
  const v4 = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(v4)) return `${v4.split('.').slice(0, 3).join('.')}.0/24`;
  const groups = address.split('%')[0]?.split('::')[0]?.split(':').filter(Boolean) ?? [];
  return `${groups.slice(0, 3).join(':')}::/48`;
}
