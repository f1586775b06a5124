// What bounds an organization until it pays, as its callers meet it: exact over two gateways, and lifted in both by the payment.
import { createPool } from '@svc/core/db/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { payTopup } from '../registry/topup-rows.ts';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { staffContext } from '../support/provision.ts';
import { startRedis } from '../support/redis.ts';
import { allAtOnce, countSeen, shareGateways } from './money.ts';

vi.setConfig({ testTimeout: 120_000 });
let open: Awaited<ReturnType<typeof shareGateways>>;
beforeAll(async () => {
  const redis = await startRedis();
  atFileEnd(() => redis.stop());
  open = await shareGateways(2, { SVC_REDIS_URL: redis.url });
});

const body = { model: 'crash/exact', max_tokens: 50, messages: [{ role: 'user', content: 'Hello there.' }] };

/** A gateway whose Redis is late applies its share for a moment, which is rare. */
test('sixty calls at once over two gateways: twenty are served, the refusal says what lifts it, and the payment does in both', {
  retry: 2,
}, async () => {
  const money = await open({ balance: 1_000_000, processes: 2, keys: [{ name: 'new' }] });
  await withClient(money.database_url, (client) =>
    client.query('update org set self_made = true, awaits_topup = true where id = $1', [money.org_id]),
  );
  const started = performance.now();
  const seen = countSeen(await allAtOnce(money, 60));
  const refilled = Math.floor(((performance.now() - started) * 20) / 60_000);
  expect(seen.final).toBeGreaterThanOrEqual(20);
  expect(seen.final).toBeLessThanOrEqual(20 + refilled);
  expect(seen['429 rate_limit_exceeded']).toBe(60 - (seen.final ?? 0));
  const refused = await fetch(`${money.gateways[1]?.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${money.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(refused.status).toBe(429);
  const { error } = (await refused.json()) as { error: { message: string; details: object } };
  expect(error.message).toMatch(
    /^The organization allows 20 requests per minute \(rpm\) until the first top-up is paid\. Try again in \d+ s\.$/,
  );
  expect(error.details).toMatchObject({
    limit: 'rpm',
    scope: 'trial',
    subject: money.org_id,
    limit_value: 20,
  });

  const pool = createPool(money.database_url, { max: 2 });
  try {
    const org = (await findOrg(pool, money.org_id)) as Org;
    await payTopup(staffContext(pool), { org });
  } finally {
    await pool.end();
  }
  // Forty at once are twice what the limit let through: none is refused only where both gateways have heard.
  await expect
    .poll(async () => countSeen(await allAtOnce(money, 40)), { timeout: 10_000, interval: 200 })
    .toEqual({ final: 40 });
});

test('an organization of staff makes as many calls as its plan lets it', async () => {
  const money = await open({ balance: 1_000_000, processes: 2, keys: [{ name: 'staff' }] });
  expect(countSeen(await allAtOnce(money, 60))).toEqual({ final: 60 });
});
