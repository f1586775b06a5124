// One organization against the others: what a caller of expensive bodies takes from everybody else. Measured as processor
// time, which other programs of the machine do not change; `make bench` measures what the others notice.
import { gzipSync } from 'node:zlib';
import { largeBodyTurn } from '@svc/core/inference/index.ts';
import { expect, test } from 'vitest';
import { useWorld } from '../calls/world.ts';
import { flood, worstBodies } from './flood.ts';

const world = useWorld({ models: { chat: 1 }, gateway: 'here' });

/** Each of these bodies once took the process for a tenth of a second to five. This process is the callers', too. */
const LONGEST_MS = 100;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Watches how long the event loop is kept at a stretch. */
function watchStretches() {
  let longest_ms = 0;
  let since = cpuMs();
  let over = false;
  const look = () => {
    const at = cpuMs();
    longest_ms = Math.max(longest_ms, at - since);
    since = at;
    if (!over) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    over = true;
    return longest_ms;
  };
}

test('six connections that send the worst bodies do not keep the process from another organization', async () => {
  const { gateway, org } = world();
  const hostile = await org(1_000_000, [{ name: 'free', environment: 'test', rpm: 300, concurrency: 20 }]);
  const other = await org();
  const bodies = worstBodies('sandbox/echo');
  const endWatch = watchStretches();
  const found = await flood({
    ...{ port: gateway.port, bodies, connections: 6 },
    hostile_key: hostile.keys[0]?.secret ?? '',
    ...{ other_key: other.sandbox_key, model: 'sandbox/echo', calls: 120, per_second: 30 },
  });
  const longest_ms = endWatch();
  expect(found.failed).toBe(0);
  expect(Object.keys(found.statuses)).toEqual(expect.arrayContaining(['200', '400', '413']));
  expect(found.sent).toBeGreaterThanOrEqual(bodies.length);
  expect(longest_ms).toBeLessThan(LONGEST_MS);
}, 120_000);

test('a large compressed body is decoded in its turn, and delays no small one', async () => {
  const { gateway, org } = world();
  const { sandbox_key } = await org();
  const ask = async (content: string) => {
    const messages = [{ role: 'user', content }];
    const { status } = await fetch(`${gateway.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${sandbox_key}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync(JSON.stringify({ model: 'sandbox/echo', max_tokens: 1, messages })),
    });
    return status;
  };
  const others = await largeBodyTurn('org_other');
  const ends: string[] = [];
  const large = ask('a'.repeat(200_000)).then((status) => ends.push(`large ${status}`));
  for (let i = 0; i < 3; i++) ends.push(`small ${await ask('a')}`);
  others.end();
  await large;
  expect(ends).toEqual(['small 200', 'small 200', 'small 200', 'large 200']);
});

test('who goes on although he is refused waits for his answers, and nobody else does', async () => {
  const { gateway, org } = world();
  const insistent = await org(1_000_000, [{ name: 'slow', environment: 'test', rpm: 1 }]);
  const other = await org();
  const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] });
  const ask = async (key: string | undefined) => {
    const began = performance.now();
    const { status } = await fetch(`${gateway.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    });
    return { status, held: performance.now() - began >= 1_000 };
  };
  const key = insistent.keys[0]?.secret;
  expect((await ask(key)).status).toBe(200);
  const refused = Promise.all(Array.from({ length: 60 }, () => ask(key)));
  expect(await ask(other.sandbox_key)).toEqual({ status: 200, held: false });
  const answers = await refused;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
  expect(answers.filter(({ held }) => held)).toHaveLength(10);
});
