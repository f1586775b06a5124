// Two programs with the jobs on one database: one leads, is killed, and the other goes on where it stood.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { endWithUs } from '../support/watch.ts';
import { startReceiver, withStatus } from './receiver.ts';
import { LOCAL, startWorld } from './world.ts';

const world = await startWorld();
const program = new URL('./jobs-process.ts', import.meta.url).pathname;

interface Program {
  readonly child: ChildProcess;
  said(): string;
  kill(): Promise<void>;
}

function start(): Program {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, SVC_DATABASE_URL: world.url, ...LOCAL };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  endWithUs(child.pid as number, ended);
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  atFileEnd(kill);
  return { child, said: () => said, kill };
}

test('the leader is killed at work: another takes over within seconds, no fact is lost, repeats carry the same id', async () => {
  const tenant = await world.tenant('takeover');
  const receiver = await startReceiver();
  const hook = await tenant.hook(receiver.url);
  const programs = [start(), start()];
  const leaders = () => programs.filter(({ said }) => said() === 'leads\n');
  await expect.poll(() => leaders().length, { timeout: 30_000 }).toBe(1);
  const [leader] = leaders();

  // Some answered, some under way when the leader dies, some not yet relayed.
  let number = 0;
  const tell = async (count: number) => {
    for (let n = 0; n < count; n++) await tenant.tell('topup.completed', { n: number++ });
  };
  await tell(10);
  await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(10);
  receiver.answer(() => {});
  await tell(10);
  await expect.poll(() => receiver.open, { timeout: 30_000 }).toBe(4);
  await leader!.kill();
  const killed_at = performance.now();
  receiver.answer(withStatus(204));
  await tell(10);

  await expect
    .poll(() => programs.find((program) => program !== leader)!.said(), { timeout: 20_000 })
    .toBe('leads\n');
  // It tries each two seconds; a lease that had to lapse first would be a minute.
  expect(performance.now() - killed_at).toBeLessThan(15_000);
  // What was not under way arrives without a wait; the four leases of the dead run by the database's clock.
  const seen = () => new Set(receiver.verified(hook.secret).map(({ data }) => data['n'] as number));
  await expect.poll(() => seen().size, { timeout: 20_000 }).toBe(30);
  // Polled: what was just answered is still being booked.
  const leased = () => world.rows(`select 1 from webhook_delivery where status = 'delivering'`);
  await expect.poll(async () => (await leased()).length, { timeout: 20_000 }).toBe(4);
  await world.rows(`update webhook_delivery set lease_until = clock_timestamp() where status = 'delivering'`);
  await expect
    .poll(async () => new Set((await tenant.log(hook.id)).map(({ status }) => status)), { timeout: 20_000 })
    .toEqual(new Set(['delivered']));

  const log = await tenant.log(hook.id);
  expect(log).toHaveLength(30);
  const ids = new Map(log.map(({ event_id, payload }) => [payload['n'], event_id]));
  const bodies = new Map<unknown, string>();
  for (const { headers, body } of receiver.received) {
    const { id, data } = JSON.parse(body) as { id: string; data: { n: number } };
    expect([headers['webhook-id'], id]).toEqual([ids.get(data.n), ids.get(data.n)]);
    expect(body).toBe(bodies.get(data.n) ?? body);
    bodies.set(data.n, body);
  }
  expect(receiver.received).toHaveLength(34);
  expect(await world.rows('select 1 from outbox')).toEqual([]);
}, 120_000);

test('two relays at once make one event of each fact', async () => {
  const tenant = await world.tenant('relays');
  const hook = await tenant.hook('http://127.0.0.1:65530/hooks', ['topup.completed']);
  for (let n = 0; n < 60; n++) await tenant.tell('topup.completed', { n });
  await Promise.all(Array.from({ length: 6 }, () => world.relay()));
  await expect.poll(async () => (await world.rows('select 1 from outbox')).length).toBe(0);
  const numbers = (await tenant.log(hook.id)).map(({ payload }) => payload['n'] as number);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n));
});
