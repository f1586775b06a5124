// What one attempt of a delivery may take: time, bytes of the answer, and the lease of the process that makes it.
import { type EgressRequest, type EgressResponse, openEgress } from '@svc/core/egress/index.ts';
import { readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { createDeliverer } from '@svc/core/webhooks/index.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startReceiver, withStatus } from './receiver.ts';
import { LOCAL, startWorld } from './world.ts';

const world = await startWorld();
const patient = { timeout: 10_000 };
const egress = openEgress(readConfig(LOCAL));
const exchanges: { readonly asked: EgressRequest; readonly answer: EgressResponse }[] = [];
// The worker as a process has it, with nothing changed for tests; what it sends is looked at on its way.
const deliverer = createDeliverer({
  ...{ store: world.pool, root_key: Buffer.alloc(32, 7), log: silentLog, mayTake: () => false },
  egress: {
    ...egress,
    async exchange(asked) {
      const answer = await egress.exchange(asked);
      exchanges.push({ asked, answer });
      return answer;
    },
  },
});
atFileEnd(() => deliverer.stop());

test('an attempt has 3 s to connect and 10 s in all, and 64 KiB of the answer are read, to the byte', async () => {
  const tenant = await world.tenant('bounds');
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  const answerOf = async (bytes: number) => {
    exchanges.length = 0;
    receiver.answer((response) => void response.writeHead(200).end(Buffer.alloc(bytes, 'x')));
    await tenant.tell('topup.completed', { bytes });
    await world.relay();
    expect(await deliverer.pump()).toBe(1);
    const last = async () => (await tenant.log(hook.id)).at(-1);
    await expect.poll(last, patient).toMatchObject({ status: 'delivered', response_code: 200 });
    const [exchange] = exchanges;
    expect(exchange?.asked).toMatchObject({ connect_ms: 3_000, total_ms: 10_000, body_bytes_max: 65_536 });
    return exchange?.answer;
  };
  expect(await answerOf(65_536)).toMatchObject({ complete: true });
  expect(await answerOf(65_537)).toMatchObject({ complete: false });
});

test('a delivery belongs to the process that took it for 60 s', async () => {
  const tenant = await world.tenant('leased');
  const receiver = await startReceiver();
  const reached = new Promise<() => void>((arrived) => {
    receiver.answer((response) => arrived(() => withStatus(204)(response)));
  });
  await tenant.hook(receiver.url);
  await tenant.tell('topup.completed', {});
  await world.relay();
  await deliverer.pump();
  const release = await reached;
  const [lease] = await world.rows<{ seconds: number }>(
    `select extract(epoch from lease_until - clock_timestamp())::float8 as seconds
       from webhook_delivery where status = 'delivering'`,
  );
  expect(lease?.seconds).toBeLessThanOrEqual(60);
  expect(lease?.seconds).toBeGreaterThan(50);
  release();
  await expect.poll(() => deliverer.in_flight, patient).toBe(0);
});
