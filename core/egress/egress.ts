// The only way to send requests to addresses that users give. Names are resolved here, every address is checked at
// every connection, and the socket connects to a checked address, so that a name that later resolves elsewhere gains
// nothing.
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, Client } from 'undici';
import type { Config } from '../kernel/index.ts';
import { askDns, type DnsAnswer, type RecordType } from './dns.ts';
import { type GuardRules, hostOf, isRefusedAddress, parseNetworks, refuseUrl } from './guard.ts';

/** Why there was no HTTP answer. */
export type EgressFault = 'timeout' | 'dns' | 'tls' | 'refused' | 'blocked_address';

export interface EgressRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** For resolving, connecting and TLS together. */
  readonly connect_ms: number;
  /** From the beginning to the end of the answer's body. */
  readonly total_ms: number;
  /** What is read of the body at most; then the connection is closed. */
  readonly body_bytes_max: number;
  /** Aborts the exchange, with the same result as a timeout. */
  readonly signal?: AbortSignal;
}

export type EgressResponse =
  | {
      readonly fault: null;
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly body: Buffer;
      /** False where the body went on after `body_bytes_max`, or was cut off. */
      readonly complete: boolean;
    }
  | { readonly fault: EgressFault };

/** The TXT or CNAME records of a name; `unavailable` where no name server gave an answer. */
type TxtAnswer =
  | { readonly kind: 'records'; readonly texts: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable' };

export interface Egress {
  /** Why `url` may not be called, asking the DNS as well; null when it may. A name that does not resolve yet may. */
  refusalOf(url: string): Promise<string | null>;
  /** One exchange over a connection of its own. Redirects are answers: nothing is followed. */
  exchange(request: EgressRequest): Promise<EgressResponse>;
  /** Asks the name servers for the TXT records of `name`; the strings of one record are joined. */
  lookupTxt(name: string): Promise<TxtAnswer>;
  /** Asks them for the records of `type` at `name`, and says why there are none. Never throws. */
  askDns(type: RecordType, name: string): Promise<DnsAnswer>;
  /** Asks the name servers for the name that `name` stands for (CNAME). */
  lookupCname(name: string): Promise<TxtAnswer>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Absent: addresses of the public Internet over https alone. */
    readonly egress?: Egress;
  }
}

interface Resolved {
  readonly address: string;
  readonly family: 4 | 6;
}

class BlockedAddress extends Error {}

/** Uses c-ares instead of getaddrinfo, whose few threads one user's slow name server could block for all others. */
const RESOLVER = { timeout: 1_000, tries: 2 } as const;
/** A record is asked for while a person waits, and nothing else depends on the answer. */
const TXT_RESOLVER = { timeout: 3_000, tries: 2 } as const;
/** The longest that storing an address waits for the DNS. */
const CHECK_MS = 2_500;
const TLS_CODE =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL|HOSTNAME_MISMATCH|EPROTO$)/;
const DNS_CODES = new Set([
  ...['ENOTFOUND', 'ENODATA', 'EAI_AGAIN', 'ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'EBADNAME', 'EBADRESP'],
  ...['EFORMERR', 'ENONAME', 'ECANCELLED', 'ENOTIMP'],
]);

function faultOf(error: unknown): EgressFault {
  if (error instanceof BlockedAddress) return 'blocked_address';
  const { code = '', name = '' } = error as { code?: string | number; name?: string };
  if (name === 'TimeoutError' || name === 'AbortError') return 'timeout';
  const text = String(code);
  if (text === 'UND_ERR_CONNECT_TIMEOUT' || text === 'ETIMEDOUT') return 'timeout';
  if (DNS_CODES.has(text)) return 'dns';
  if (TLS_CODE.test(text)) return 'tls';
  // The connection was refused, reset or closed, or the other side does not speak HTTP.
  return 'refused';
}

/** All addresses of `host`, IPv4 first. @throws the DNS error when there is none. */
async function resolve(resolver: Resolver, host: string): Promise<Resolved[]> {
  // RFC 6761: these names are never looked up at a server.
  if (host === 'localhost' || host.endsWith('.localhost')) {
    return [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
  }
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found: Resolved[] = [];
  if (four.status === 'fulfilled') for (const address of four.value) found.push({ address, family: 4 });
  if (six.status === 'fulfilled') for (const address of six.value) found.push({ address, family: 6 });
  if (found.length > 0) return found;
  throw four.status === 'rejected' ? four.reason : new Error('a name without an address');
}

function connectorOf(
  resolver: Resolver,
  rules: GuardRules,
  connect_ms: number,
): ReturnType<typeof buildConnector> {
  const refuse = (address: string) =>
    isRefusedAddress(address, rules.allowed) ? new BlockedAddress(`${address} is not public`) : null;
  const lookup: LookupFunction = (name, options, callback) => {
    resolve(resolver, name.replace(/\.$/, '').toLowerCase()).then(
      (found) => {
        // A private address among public ones is taken for an attack, so the whole host is refused.
        const refused = found.map(({ address }) => refuse(address)).find((error) => error !== null);
        const [first] = found;
        if (refused !== undefined || first === undefined) callback(refused ?? new Error('no address'), '', 4);
        else if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 4),
    );
  };
  const connect = buildConnector({ timeout: connect_ms, lookup, allowH2: false });
  return (options, callback) => {
    // A literal address is connected to without a look-up.
    const error = isIP(options.hostname) === 0 ? null : refuse(options.hostname);
    if (error === null) connect(options, callback);
    else callback(error, null);
  };
}

/** Reads at most `max` bytes of `body`, until it ends, breaks or the exchange's time is over. */
async function readSome(
  body: AsyncIterable<Buffer>,
  max: number,
): Promise<{ body: Buffer; complete: boolean }> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part.subarray(0, max - size));
      size += part.length;
      if (size > max) return { body: Buffer.concat(parts), complete: false };
    }
  } catch {
    // The status was received, so a body that breaks off afterwards does not turn the exchange into a failure.
    return { body: Buffer.concat(parts), complete: false };
  }
  return { body: Buffer.concat(parts), complete: true };
}

async function exchange(
  resolver: Resolver,
  rules: GuardRules,
  request: EgressRequest,
): Promise<EgressResponse> {
  const url = new URL(request.url);
  // Each exchange has its own connection: one that was checked for an address is never reused for another.
  const client = new Client(url.origin, {
    connect: connectorOf(resolver, rules, request.connect_ms),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 16_384,
  });
  const late = AbortSignal.timeout(request.total_ms);
  try {
    const answer = await client.request({
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: request.signal === undefined ? late : AbortSignal.any([late, request.signal]),
    });
    const { statusCode: status, headers } = answer;
    return { fault: null, status, headers, ...(await readSome(answer.body, request.body_bytes_max)) };
  } catch (error) {
    return { fault: faultOf(error) };
  } finally {
    await client.destroy();
  }
}

async function refusalOf(resolver: Resolver, rules: GuardRules, text: string): Promise<string | null> {
  const form = refuseUrl(text, rules);
  if (form !== null) return form;
  const host = hostOf(new URL(text));
  if (isIP(host) !== 0) return null;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Resolved[]>((done) => {
    timer = setTimeout(done, CHECK_MS, []);
  });
  // What cannot be resolved now is checked when it is called.
  const found = await Promise.race([resolve(resolver, host).catch(() => []), late]);
  clearTimeout(timer);
  const is_refused = found.some(({ address }) => isRefusedAddress(address, rules.allowed));
  return is_refused ? 'leads to an address that is not public' : null;
}

async function lookup(resolver: Resolver, type: 'TXT' | 'CNAME', name: string): Promise<TxtAnswer> {
  const found = await askDns(resolver, type, name);
  if (found.kind === 'records') return { kind: 'records', texts: found.values };
  return { kind: found.kind === 'failed' ? 'unavailable' : 'none' };
}

function withServers({ dns_servers }: Pick<Config, 'dns_servers'>, resolver: Resolver): Resolver {
  if (dns_servers !== null) resolver.setServers([...dns_servers]);
  return resolver;
}

/**
 * The guarded client of a process. Names are asked of `dns_servers`, or of the machine's; its hosts file is not read. The first
 * try for a record waits `record_ms`.
 */
export function openEgress(
  config: Pick<Config, 'allow_insecure_webhooks' | 'egress_allow' | 'dns_servers'>,
  { record_ms = TXT_RESOLVER.timeout }: { readonly record_ms?: number } = {},
): Egress {
  const resolver = withServers(config, new Resolver(RESOLVER));
  // Each question has a resolver of its own: an answer that cannot be read ends all that wait on the same socket.
  const recordResolver = () => withServers(config, new Resolver({ ...TXT_RESOLVER, timeout: record_ms }));
  const rules: GuardRules = {
    insecure: config.allow_insecure_webhooks,
    allowed: parseNetworks(config.egress_allow ?? []),
  };
  return {
    refusalOf: (url) => refusalOf(resolver, rules, url),
    exchange: (request) => exchange(resolver, rules, request),
    lookupTxt: (name) => lookup(recordResolver(), 'TXT', name),
    lookupCname: (name) => lookup(recordResolver(), 'CNAME', name),
    askDns: (type, name) => askDns(recordResolver(), type, name),
  };
}

let strict: Egress | null = null;

/** The process's guarded client; where none was opened, one that reaches the public Internet over https alone. */
export function egressOf(services: { readonly egress?: Egress }): Egress {
  if (services.egress !== undefined) return services.egress;
  strict ??= openEgress({ allow_insecure_webhooks: false, egress_allow: null, dns_servers: null });
  return strict;
}
