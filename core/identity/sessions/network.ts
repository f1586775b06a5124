// Network addresses: who the client is behind proxies, whether a network list holds it, and its prefix, which is what
// is stored and throttled (v4 /32, v6 /64).
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.process>;

function parse(text: string): Address | null {
  // A zone (`fe80::1%eth0`) names a link of this machine, not the peer.
  const bare = text.split('%', 1)[0] as string;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

/** Whether `ip` lies in one of `networks` (addresses or CIDR); false for what is no address. */
export function isInNetworks(ip: string, networks: readonly string[]): boolean {
  const address = parse(ip);
  if (address === null) return false;
  return networks.some((network) => {
    const [base, bits] = network.split('/') as [string, string?];
    const start = parse(base);
    if (start === null || start.kind() !== address.kind()) return false;
    const width = start.kind() === 'ipv4' ? 32 : 128;
    return address.match(start as never, bits === undefined ? width : Number(bits));
  });
}

/** Whether `text` is an address or a network in CIDR form, which `isInNetworks` can compare with. */
export function isNetwork(text: string): boolean {
  const [base, bits, more] = text.split('/') as [string, string?, string?];
  // Not the short forms (`10.1`) that the library reads too, nor a zone.
  const start = isIP(base) === 0 || base.includes('%') ? null : parse(base);
  if (start === null || more !== undefined) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (start.kind() === 'ipv4' ? 32 : 128))
  );
}

/**
 * The client's address: the socket's, or where that is a trusted proxy the rightmost hop of `X-Forwarded-For` that is
 * none. A hop that is no address ends the walk; the proxy that reported it counts as the client.
 */
export function clientAddress(
  socket_ip: string | null,
  forwarded: string | null,
  trusted: readonly string[],
): string | null {
  if (socket_ip === null || forwarded === null || !isInNetworks(socket_ip, trusted)) return socket_ip;
  const hops = forwarded.split(',').map((hop) => hop.trim());
  let client = socket_ip;
  for (const hop of hops.reverse()) {
    if (parse(hop) === null) return client;
    client = hop;
    if (!isInNetworks(hop, trusted)) return client;
  }
  return client;
}

/** `ip` as stored: a v4 address whole, of v6 the first 64 bits; null for what is no address. */
export function addressPrefix(ip: string | null): string | null {
  const address = ip === null ? null : parse(ip);
  if (address === null) return null;
  if (address.kind() === 'ipv4') return `${address.toString()}/32`;
  const parts = (address as { parts: number[] }).parts.map((part, i) => (i < 4 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/64`;
}
