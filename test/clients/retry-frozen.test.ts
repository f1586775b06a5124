// A gateway that stands still while a client waits to ask again (its machine is paused, its processor is others') has not read
// the retry when it goes on: the time in which one may come is not over for it.
import { expect, test } from 'vitest';
import { bodyOf, eventually, useWorld } from '../calls/world.ts';

const world = useWorld({ gateway: 'alone' });
const RETRY_COUNT = 'x-stainless-retry-count';
/** Longer than a gateway waits for the first retry of a client (docs/outcomes.md#asked-again-by-the-client). */
const STANDS_STILL_MS = 2_000;

test("a client's own retry of a stream is one call with what it repeats, although the gateway stood still between them", async () => {
  const { sim, chat, model, org, gateway } = world();
  const { live_key } = await org();
  const { id, upstream } = model('chat');
  const ask = (count: number) =>
    chat(live_key, bodyOf(id, 'sim: tokens=20 delay_ms=4000', { stream: true }), {
      headers: { [RETRY_COUNT]: String(count) },
    });
  const asked = () => sim.calls.filter((call) => call.model === upstream);
  const first = ask(0);
  await eventually('the provider is asked', () => asked().length > 0);
  first.leave();
  const pid = gateway.pid;
  // It has heard of that once it answers somebody who came later.
  await fetch(`${gateway.base_url}/readyz`);
  process.kill(pid, 'SIGSTOP');
  const until_ms = performance.now() + STANDS_STILL_MS;
  const retry = ask(1);
  await eventually('the gateway has stood still', () => performance.now() > until_ms);
  process.kill(pid, 'SIGCONT');
  expect(await retry.reply).toMatchObject({ status: 200, complete: true });
  expect(asked()).toHaveLength(1);
});
