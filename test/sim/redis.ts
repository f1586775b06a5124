// Redis in the forms that an installation may have: a cluster of three nodes, a server with a replica and a Sentinel, and
// nodes behind TLS.
import type { Server, Socket } from 'node:net';
import { type AddressInfo, createConnection } from 'node:net';
import { createServer } from 'node:tls';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { Redis } from 'ioredis';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { server as certificate } from './certificates.ts';

const SLOTS = 16_384;

/** What `ask` answers once `isGood`; asked every 50 ms for 20 s at most. */
async function until(what: string, isGood: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + 20_000;
  while (!(await isGood().catch(() => false))) {
    if (performance.now() > late) throw new Error(`not in time: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function withClient<T>(
  node: TestRedis,
  use: (client: Redis) => Promise<T>,
  password?: string,
): Promise<T> {
  const client = new Redis(node.port, '127.0.0.1', {
    ...(password === undefined ? {} : { password }),
    lazyConnect: true,
    enableReadyCheck: false,
  });
  client.on('error', () => {});
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

/** A front that ends TLS before `port`, with a certificate for `localhost`. */
export async function startTls(port: number): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer(certificate, (near) => {
    const far = createConnection({ port, host: '127.0.0.1' });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface TestCluster {
  /** Address of all nodes, as `SVC_REDIS_URL` takes it. */
  readonly url: string;
  readonly nodes: readonly TestRedis[];
  stop(): Promise<void>;
}

/** A cluster of three masters without replicas; with `tls` its nodes are reached through TLS alone. */
export async function startCluster(
  options: { readonly password?: string; readonly tls?: boolean } = {},
): Promise<TestCluster> {
  const { password, tls = false } = options;
  const login = password === undefined ? [] : ['--requirepass', password, '--masterauth', password];
  const fronts: Awaited<ReturnType<typeof startTls>>[] = [];
  const nodes: TestRedis[] = [];
  for (let i = 0; i < 3; i++) {
    const port = await freePort();
    const front = tls ? await startTls(port) : null;
    if (front !== null) fronts.push(front);
    const announced =
      front === null
        ? []
        : [
            ...['--cluster-announce-port', String(front.port), '--cluster-announce-hostname', 'localhost'],
            ...['--cluster-preferred-endpoint-type', 'hostname'],
          ];
    const args = [
      ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
      ...['--cluster-port', String(await freePort()), ...announced, ...login],
    ];
    nodes.push(await startRedis({ port, args }));
  }
  const at = async <T>(i: number, use: (client: Redis) => Promise<T>) =>
    withClient(nodes[i] as TestRedis, use, password);
  const size = Math.ceil(SLOTS / nodes.length);
  for (const [i] of nodes.entries()) {
    const last = Math.min(SLOTS, (i + 1) * size) - 1;
    await at(i, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', i * size, last));
    await at(i, (client) => client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1));
  }
  for (const [i, { port, args }] of nodes.entries()) {
    if (i === 0) continue;
    const bus = args[args.indexOf('--cluster-port') + 1] as string;
    await at(0, (client) => client.call('CLUSTER', 'MEET', '127.0.0.1', port, bus));
  }
  for (const [i] of nodes.entries()) {
    await until('the cluster is whole', async () => {
      const info = String(await at(i, (client) => client.call('CLUSTER', 'INFO')));
      return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
    });
  }
  const hosts = tls
    ? fronts.map(({ port }) => `localhost:${port}`)
    : nodes.map(({ port }) => `127.0.0.1:${port}`);
  return {
    url: `${tls ? 'rediss' : 'redis'}-cluster://${password === undefined ? '' : `:${password}@`}${hosts.join(',')}`,
    nodes,
    async stop() {
      await Promise.all([...nodes, ...fronts].map((one) => one.stop()));
    },
  };
}

interface TestSentinel {
  readonly url: string;
  readonly servers: readonly [TestRedis, TestRedis];
  /** Makes the replica the master, as a Sentinel does when the master dies. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A master, its replica and a Sentinel that watches them as `main`, with a password of its own. */
export async function startSentinel(): Promise<TestSentinel> {
  const login = ['--requirepass', 'of-servers', '--masterauth', 'of-servers'];
  const master = await startRedis({ args: login });
  const replica = await startRedis({ args: [...login, '--replicaof', `127.0.0.1 ${master.port}`] });
  const sentinel = await startRedis({
    config: [
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      'sentinel auth-pass main of-servers',
      'sentinel down-after-milliseconds main 2000',
      'sentinel failover-timeout main 5000',
      'requirepass of-sentinels',
    ],
    args: ['--sentinel'],
  });
  const asked = (...words: string[]) =>
    withClient(sentinel, (client) => client.call('SENTINEL', ...words), 'of-sentinels');
  await until('the Sentinel knows the replica', async () => {
    const replicas = (await asked('replicas', 'main')) as string[][];
    return replicas[0]?.join(' ').includes('master-link-status ok') === true;
  });
  return {
    url: `redis-sentinel://:of-servers@127.0.0.1:${sentinel.port}?master=main&sentinel_password=of-sentinels`,
    servers: [master, replica],
    async failOver() {
      await asked('failover', 'main');
      await until('the replica is the master', async () => {
        const address = (await asked('get-master-addr-by-name', 'main')) as string[];
        return address[1] === String(replica.port);
      });
    },
    async stop() {
      await Promise.all([sentinel, replica, master].map((one) => one.stop()));
    },
  };
}
