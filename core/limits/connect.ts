// Connections to Redis in each of its forms, with the scripts of the limits.
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { monotonicMs, Spread, within } from '../kernel/index.ts';
import { type RedisAddress, redisAddress } from './address.ts';
import { inTime, type Scripts } from './exchange.ts';
import { BEAT, ENTER, LOOK, RENEW, SPEND } from './scripts.ts';
import type { RedisFigures } from './types.ts';

const CONNECT_MS = 2_000;
/** Until a program starts without Redis. */
const OPEN_MS = 3_000;
const RETRY_MS_MAX = 1_000;

/** What the limits use of a connection; a cluster has it too. */
type Connection = Pick<
  Redis,
  'disconnect' | 'exists' | 'expire' | 'hgetall' | 'hincrby' | 'on' | 'status' | 'zrem'
>;

const retryStrategy = (tries: number) => Math.min(100 * tries, RETRY_MS_MAX);
// A replica that was the master: the connection goes, and the next one asks who is.
const reconnectOnError = ({ message }: Error) => (/^READONLY\b/.test(message) ? 1 : false);

function loginOf({
  username,
  password,
  tls,
}: RedisAddress): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  };
}

const COMMON = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableAutoPipelining: true,
} as const;

function openCluster(address: RedisAddress): Cluster {
  return new Cluster([...address.hosts], {
    ...COMMON,
    // Names stay names, which are what certificates are for.
    dnsLookup: (host, answer) => answer(null, host),
    clusterRetryStrategy: retryStrategy,
    // A caller waits a quarter of a second at most, and then is let in by local share.
    maxRedirections: 3,
    slotsRefreshTimeout: CONNECT_MS,
    redisOptions: { ...loginOf(address), connectTimeout: CONNECT_MS, maxRetriesPerRequest: 0 },
  });
}

function openServer(address: RedisAddress): Redis {
  const { kind, hosts, db, master, sentinel_username, sentinel_password, tls } = address;
  const to: Omit<RedisOptions, 'replyMapping'> =
    kind === 'sentinel'
      ? {
          sentinels: [...hosts],
          name: master as string,
          ...(tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
          sentinelRetryStrategy: retryStrategy,
          ...(sentinel_username === null ? {} : { sentinelUsername: sentinel_username }),
          ...(sentinel_password === null ? {} : { sentinelPassword: sentinel_password }),
        }
      : { ...hosts[0] };
  return new Redis({
    ...COMMON,
    ...{ ...to, ...loginOf(address), db },
    ...{ maxRetriesPerRequest: 0, connectTimeout: CONNECT_MS, retryStrategy, reconnectOnError },
  });
}

/** A connection that is not open yet. */
export interface Link {
  readonly redis: Connection;
  /** Opens it, and goes on trying when that fails. @throws Error when it is not open in time. */
  open(): Promise<void>;
  readonly scripts: Scripts;
  readonly figures: RedisFigures;
  /** What the last fault of a connection said; null after none. */
  fault(): string | null;
  /** Resolves when all that the limits' keys may be on answers. @throws Error when one does not, in time. */
  askAll(): Promise<void>;
  /** Why the address is of another form than what it leads to; null when it fits or cannot be told. */
  misfit(): Promise<string | null>;
}

/** The sentence of `error`; a cluster says that of the node it asked last. */
export function faultOf(error: unknown): string {
  const { lastNodeError, message } = error as Error & { lastNodeError?: Error };
  return lastNodeError?.message ?? message;
}

const MODE = /^(?:redis|server)_mode:(\w+)/m;
const NO_CLUSTER = /cluster support disabled/i;
const MISFITS: Readonly<Record<string, string>> = {
  cluster:
    'SVC_REDIS_URL leads to a node of a Redis Cluster: name its nodes after redis-cluster:// (with TLS rediss-cluster://).',
  sentinel:
    'SVC_REDIS_URL leads to a Sentinel: write redis-sentinel://host:port,…?master=name (with TLS rediss-sentinel://).',
  standalone:
    'SVC_REDIS_URL leads to a server that is no Redis Cluster: write redis:// (with TLS rediss://).',
};

function defineScripts(redis: Redis | Cluster): void {
  redis.defineCommand('svcEnter', { numberOfKeys: 6, lua: ENTER });
  redis.defineCommand('svcSpend', { numberOfKeys: 2, lua: SPEND });
  redis.defineCommand('svcLook', { numberOfKeys: 5, lua: LOOK });
  redis.defineCommand('svcBeat', { numberOfKeys: 1, lua: BEAT });
  redis.defineCommand('svcRenew', { numberOfKeys: 2, lua: RENEW });
}

/** The scripts of `redis`, and what each took. */
function measured(redis: Scripts): { readonly scripts: Scripts; readonly figures: RedisFigures } {
  const durations = new Map<string, Spread>();
  const failures = new Map<string, number>();
  const timed = <K extends keyof Scripts>(script: K, name: string): Scripts[K] => {
    const spread = new Spread();
    durations.set(name, spread);
    failures.set(name, 0);
    const ask = async (...args: (string | number)[]) => {
      const began_ms = monotonicMs();
      try {
        return await redis[script](...args);
      } catch (error) {
        failures.set(name, (failures.get(name) as number) + 1);
        throw error;
      } finally {
        spread.observe((monotonicMs() - began_ms) / 1_000);
      }
    };
    return ask as Scripts[K];
  };
  const scripts: Scripts = {
    svcEnter: timed('svcEnter', 'enter'),
    svcSpend: timed('svcSpend', 'spend'),
    svcLook: timed('svcLook', 'look'),
    svcBeat: timed('svcBeat', 'beat'),
    svcRenew: timed('svcRenew', 'renew'),
  };
  return { scripts, figures: { durations, failures } };
}

/** Prepares a connection to `url`. @throws Error when `url` has none of the forms. */
export function linkTo(url: string): Link {
  const address = redisAddress(url);
  const isCluster = address.kind === 'cluster';
  const opened = isCluster ? openCluster(address) : openServer(address);
  let fault: string | null = null;
  const keep = (error: unknown) => {
    fault = faultOf(error);
  };
  opened.on('error', keep);
  opened.on('node error', keep);
  opened.on('sentinelError', keep);
  opened.on('ready', () => {
    fault = null;
  });
  defineScripts(opened);
  return {
    redis: opened as unknown as Connection,
    ...measured(opened as unknown as Scripts),
    open: () => within(OPEN_MS, opened.connect(), 'Redis'),
    fault: () => fault,
    async askAll() {
      // A node that is not connected yet is connected by this; until then a cluster refuses its commands.
      if (opened instanceof Cluster)
        await Promise.all(opened.nodes('master').map((node) => inTime(node.ping())));
    },
    async misfit() {
      if (opened instanceof Cluster)
        return NO_CLUSTER.test(fault ?? '') ? (MISFITS['standalone'] as string) : null;
      const info = await inTime(opened.info('server')).catch(() => '');
      const [, mode] = MODE.exec(info) ?? [];
      return mode === undefined || mode === 'standalone' ? null : (MISFITS[mode] ?? null);
    },
  };
}
