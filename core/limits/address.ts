// The forms of `SVC_REDIS_URL`: one server, a Redis Cluster, or servers that Sentinels watch.

export interface RedisAddress {
  readonly kind: 'server' | 'cluster' | 'sentinel';
  readonly tls: boolean;
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly username: string | null;
  readonly password: string | null;
  readonly db: number;
  /** Of Sentinels: the name under which they know the server, and their own login. */
  readonly master: string | null;
  readonly sentinel_username: string | null;
  readonly sentinel_password: string | null;
}

const FORM =
  /^(redis|rediss)(?:-(cluster|sentinel))?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/(\d*))?(?:\?([^#]*))?$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i;
const PARAMETERS = new Set(['master', 'sentinel_username', 'sentinel_password']);

const fault = (reason: string) => new Error(`SVC_REDIS_URL: ${reason}`);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw fault('a % in a name or password must be written as %25');
  }
}

function loginOf(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (text === undefined || text === '') return { username: null, password: null };
  const [name, ...rest] = text.split(':');
  // `redis://secret@host` is no form of ours: it would send the password as a name.
  if (rest.length === 0) throw fault('a password stands after a colon, as in redis://:password@host');
  return {
    username: name === '' ? null : decode(name as string),
    password: decode(rest.join(':')),
  };
}

function hostsOf(text: string, port_default: number): RedisAddress['hosts'] {
  return text.split(',').map((item) => {
    const [, bracketed, plain, port] = HOST.exec(item) ?? [];
    const host = bracketed ?? plain;
    if (host === undefined || Number(port ?? 1) > 65_535 || port === '0')
      throw fault('expected hosts as host:port, with commas between');
    return { host, port: port === undefined ? port_default : Number(port) };
  });
}

/**
 * What `url` says. @throws Error with a sentence, which does not repeat the address because that may hold a password.
 */
export function redisAddress(url: string): RedisAddress {
  const [, scheme, form, login, hosts, db, query] = FORM.exec(url) ?? [];
  if (scheme === undefined)
    throw fault(
      'expected redis://, redis-cluster:// or redis-sentinel:// (rediss… with TLS), then user:password@host:port',
    );
  const kind = (form ?? 'server') as RedisAddress['kind'];
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (kind !== 'sentinel' || !PARAMETERS.has(name)) throw fault(`no parameter is called ${name} here`);
  }
  const address: RedisAddress = {
    ...{ kind, tls: scheme === 'rediss' },
    ...{ hosts: hostsOf(hosts as string, kind === 'sentinel' ? 26_379 : 6_379), ...loginOf(login) },
    db: Number(db ?? 0),
    master: parameters.get('master'),
    sentinel_username: parameters.get('sentinel_username'),
    sentinel_password: parameters.get('sentinel_password'),
  };
  if (kind === 'server' && address.hosts.length > 1)
    throw fault('several hosts are a redis-cluster:// or a redis-sentinel://');
  if (kind === 'cluster' && address.db !== 0) throw fault('a Redis Cluster has no databases beside 0');
  if (kind === 'sentinel' && (address.master ?? '') === '')
    throw fault('?master= must say which server of the Sentinels is meant');
  return address;
}
