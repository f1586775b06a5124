// What is kept of a caller's address.

/** The network of an address: IPv4 /24, IPv6 /48 (P12.2); '' when there is none. */
export function networkPrefix(address: string | undefined): string {
  if (address === undefined) return '';
  const v4 = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(v4)) return `${v4.split('.').slice(0, 3).join('.')}.0/24`;
  const groups = address.split('%')[0]?.split('::')[0]?.split(':').filter(Boolean) ?? [];
  return `${groups.slice(0, 3).join(':')}::/48`;
}
