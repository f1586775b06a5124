// Which addresses given by users may be called (docs/webhooks.md#addresses): the form of a URL, and the network of an
// address. Pure: egress.ts connects, and asks here for every address at every connection.
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;
type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Addresses that are not on the public Internet. */
const REFUSED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
].map((network) => ipaddr.parseCIDR(network));

/**
 * Whatever is no unicast address of the public Internet: all outside `2000::/3`, and in it the
 * protocols' own range (Teredo carries IPv4, ORCHID is no address) and those of documentation.
 */
const REFUSED_V6 = [...['::/3', '4000::/2', '8000::/1'], ...['2001::/23', '2001:db8::/32', '3fff::/20']].map(
  (network) => ipaddr.parseCIDR(network),
);

/** Ranges that carry an IPv4 address, and the byte it begins at: mapped, NAT64, 6to4. */
const CARRIERS: readonly (readonly [Network, number])[] = [
  [ipaddr.parseCIDR('::ffff:0:0/96'), 12],
  [ipaddr.parseCIDR('64:ff9b::/96'), 12],
  [ipaddr.parseCIDR('2002::/16'), 2],
];

function isIn(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/** The IPv4 address inside a mapped, NAT64 or 6to4 address; any other address itself. */
function innerAddress(address: Address): Address {
  const carrier = CARRIERS.find(([network]) => isIn(address, [network]));
  if (carrier === undefined) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(carrier[1], carrier[1] + 4));
}

/** The networks of `SVC_EGRESS_ALLOW`; a bare address is a network of one. @throws Error on any other text. */
export function parseNetworks(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128] as Network;
  });
}

/** Whether nothing may be sent to `text`, an IP address: not public, and in none of `allowed`. */
export function isRefusedAddress(text: string, allowed: readonly Network[]): boolean {
  // A zone names an interface of this machine.
  if (text.includes('%') || !ipaddr.isValid(text)) return true;
  const address = ipaddr.parse(text);
  const inner = innerAddress(address);
  if (isIn(address, allowed) || isIn(inner, allowed)) return false;
  return isIn(inner, inner.kind() === 'ipv4' ? REFUSED_V4 : REFUSED_V6);
}

/** The host of `url` as names and addresses are compared: no brackets, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

export interface GuardRules {
  /** `http:` and ports from 1024 on: for development. */
  readonly insecure: boolean;
  readonly allowed: readonly Network[];
}

/** Why `text` is no address that may be called, judged without the network; null when its form is fine. */
export function refuseUrl(text: string, rules: GuardRules): string | null {
  if (!URL.canParse(text)) return 'is not an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(rules.insecure && url.protocol === 'http:'))
    return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 443 && port !== 8443 && !(rules.insecure && port >= 1024)) return 'must use port 443 or 8443';
  const host = hostOf(url);
  // The URL standard reads 2130706433 and 0x7f.1 as the address they are.
  if (ipaddr.isValid(host) && isRefusedAddress(host, rules.allowed))
    return 'leads to an address that is not public';
  return null;
}
