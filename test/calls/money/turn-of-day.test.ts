// Budgets at midnight (docs/limits.md#budgets): the window of a call is that of its beginning, and so is what its
// refusal says.
import { nowMs, shiftClock } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { errorOf } from '../caller.ts';
import { bodyOf, eventually, useWorld } from '../world.ts';

const DAY_MS = 86_400_000;
const world = useWorld({ gateway: 'here', models: { chat: 1 } });

test('a refused call over midnight names the end of the day whose budget was used up', async () => {
  const org = await world().org(undefined, [{ name: 'spent', daily_budget_micro: 0 }]);
  const key = org.keys[0]?.secret as string;
  const midnight = Math.ceil(nowMs() / DAY_MS) * DAY_MS;
  shiftClock(midnight - 60_000 - Date.now());
  try {
    const body = JSON.stringify(bodyOf(world().model('chat').id, 'Hi'));
    const slow = world().chat(key, {}, { body: body.slice(0, 20), declared: body.length });
    await eventually('it has begun', () => slow.request.writableLength === 0);
    await fetch(`${world().gateway.base_url}/healthz`);
    shiftClock(midnight + 60_000 - Date.now());
    slow.request.end(body.slice(20));
    expect(errorOf(await slow.reply)).toMatchObject({
      code: 'budget_exhausted',
      details: { scope: 'key', resets_at: new Date(midnight).toISOString() },
    });
  } finally {
    shiftClock(0);
  }
});
