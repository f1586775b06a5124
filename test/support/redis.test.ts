import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { atFileEnd } from './ends.ts';
import { startRedis } from './redis.ts';

async function start() {
  const redis = await startRedis();
  const client = new Redis(redis.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  // A server that was killed is what these tests are about.
  client.on('error', () => {});
  atFileEnd(async () => {
    client.disconnect();
    await redis.stop();
  });
  return { redis, client };
}

test('a killed server refuses connections, and restarts on its port without its keys', async () => {
  const { redis, client } = await start();
  expect(await client.set('a', '1')).toBe('OK');
  await redis.kill();
  const once = new Redis(redis.url, { lazyConnect: true, retryStrategy: () => null });
  once.on('error', () => {});
  await expect(once.connect()).rejects.toThrow();
  await redis.restart();
  expect(await client.get('a')).toBeNull();
});

test('a paused server keeps its connections and answers when it goes on, not before', async () => {
  const { redis, client } = await start();
  const impatient = new Redis(redis.url, { commandTimeout: 100 });
  atFileEnd(async () => impatient.disconnect());
  await Promise.all([client.ping(), impatient.ping()]);
  redis.pause();
  const reply = client.ping();
  await expect(impatient.ping()).rejects.toThrow('Command timed out');
  redis.resume();
  expect(await reply).toBe('PONG');
});
