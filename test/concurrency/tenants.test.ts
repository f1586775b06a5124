// One organization against the others: how much a caller with expensive bodies slows everybody else down.
import { expect, test } from 'vitest';
import { useWorld } from '../calls/world.ts';
import { flood, quantile, worstBodies } from './flood.ts';

const world = useWorld({ models: { chat: 1 } });

/** A limit for a machine that runs other tests too; each of these bodies once blocked the process for most of a second. */
const LONGEST_MS = 1_000;

test('six connections that send the worst bodies do not keep another organization waiting', async () => {
  const { gateway, org } = world();
  const hostile = await org(1_000_000, [{ name: 'free', environment: 'test', rpm: 300, concurrency: 20 }]);
  const other = await org();
  const found = await flood({
    ...{ port: gateway.port, bodies: worstBodies('sandbox/echo'), connections: 6 },
    hostile_key: hostile.keys[0]?.secret ?? '',
    ...{ other_key: other.sandbox_key, model: 'sandbox/echo', calls: 120, per_second: 30 },
  });
  expect(found.failed).toBe(0);
  expect(Object.keys(found.statuses)).toEqual(expect.arrayContaining(['200', '400', '413']));
  expect(quantile(found.calls_ms, 0.95)).toBeLessThan(LONGEST_MS);
  expect(quantile(found.health_ms, 0.95)).toBeLessThan(LONGEST_MS);
  expect(Math.max(...found.calls_ms)).toBeLessThan(3 * LONGEST_MS);
}, 60_000);
