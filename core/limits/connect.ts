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

/** Most bounds of one call: those of its key, of its project and of its plan. */
const BOUNDS_MAX = 3;

/** The text of each script, and how many keys it has for n bounds. */
const SCRIPTS: Readonly<Record<keyof Scripts, { lua: string; keys: (bounds: number) => number }>> = {
  enter: { lua: ENTER, keys: (n) => 3 * n },
  spend: { lua: SPEND, keys: (n) => n },
  look: { lua: LOOK, keys: (n) => 2 * n + 1 },
  beat: { lua: BEAT, keys: () => 1 },
  renew: { lua: RENEW, keys: (n) => n },
};
const scriptNames = Object.keys(SCRIPTS) as (keyof Scripts)[];

/** A script is a command for each number of keys: in a cluster the first argument must be a key, not their number. */
const commandOf = (script: keyof Scripts, keys: number) => `svc_${script}_${keys}`;

function defineScripts(redis: Redis | Cluster): void {
  for (const script of scriptNames) {
    const { lua, keys } = SCRIPTS[script];
    for (let bounds = 1; bounds <= BOUNDS_MAX; bounds++)
      redis.defineCommand(commandOf(script, keys(bounds)), { numberOfKeys: keys(bounds), lua });
  }
}

type Command = (...args: (string | number)[]) => Promise<unknown>;
type Commands = Readonly<Record<string, Command>>;

/** The scripts of `redis`, and what each took. */
function measured(redis: Commands): { readonly scripts: Scripts; readonly figures: RedisFigures } {
  const durations = new Map<string, Spread>();
  const failures = new Map<string, number>();
  const timed = (script: keyof Scripts) => {
    const spread = new Spread();
    durations.set(script, spread);
    failures.set(script, 0);
    return async (keys: readonly string[], args: readonly (string | number)[]) => {
      const began_ms = monotonicMs();
      try {
        return await (redis[commandOf(script, keys.length)] as Command).call(redis, ...keys, ...args);
      } catch (error) {
        failures.set(script, (failures.get(script) as number) + 1);
        throw error;
      } finally {
        spread.observe((monotonicMs() - began_ms) / 1_000);
      }
    };
  };
  const scripts = Object.fromEntries(scriptNames.map((name) => [name, timed(name)]));
  return { scripts: scripts as unknown as Scripts, figures: { durations, failures } };
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
    ...measured(opened as unknown as Commands),
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
