// What proposed prices would have cost the callers of the last thirty days, held against the same prices in a file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  catalogAt,
  committedCatalog,
  type Endpoint,
  loadCatalog,
  type PriceVersion,
} from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { newRequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { meteredUsage, type OtherUnit } from '@svc/core/ledger/index.ts';
import {
  journalDirectory,
  openTestLedger,
  PATIENT,
  settleOf,
  UNITS,
} from '@svc/core/ledger/testing/testing.ts';
import { price } from '@svc/core/pricing/index.ts';
import { afterEach, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startPrices } from './world.ts';

const prices = await startPrices();
const { world, harness, path, dir, endpointOf } = prices;
const journal = journalDirectory();
const ledger = await openTestLedger(harness.url, journal.dir, PATIENT);
atFileEnd(async () => {
  await ledger.close();
  journal.remove();
});
afterEach(() => shiftClock(0));
const DAY_MS = 86_400_000;
const { a } = harness;
const { rows } = await harness.pool.query<{ key_no: number }>({
  ...{ name: '', text: 'select key_no from api_key where id = $1', values: [a.key_id] },
});
const subject = {
  ...{ book_id: a.org.live_book_id, project_no: a.live.live_no, key_no: rows[0]?.key_no as number },
};

/** The prices that calls of the test have, as `of` charges them: usual, of a tier, with an own key, of a reseller's tier. */
function pricesOf(of: Endpoint | undefined, at_tier: Endpoint | undefined): PriceVersion[] {
  return [of?.price, of?.tiers?.['flex'], of?.byok?.price, at_tier?.price].map((one) => {
    if (one === undefined) throw new Error('a price is missing');
    return one;
  });
}

interface Call {
  readonly usage: ReturnType<typeof meteredUsage>['usage'];
  /** Place of its price among those of `pricesOf`. */
  readonly place: number;
  readonly insured: boolean;
}
const costOf = ({ usage, place, insured }: Call, of: readonly PriceVersion[]) =>
  insured ? 0 : price(usage, of[place] as PriceVersion).total_micro_usd;

/** Books a call with so many tokens at the price of its number. */
async function settle(
  n: number,
  of: { readonly endpoint_no: number; readonly versions: readonly PriceVersion[] },
  other: Partial<Record<OtherUnit, number>> = {},
): Promise<Call> {
  const place = n % of.versions.length;
  const units = {
    ...{ ...UNITS, cache_write_tokens: 0, cache_write_5m_tokens: 0, cache_write_1h_tokens: 0 },
    ...{ input_tokens: 7 + n * 97, output_tokens: 3 + n * 13, reasoning_tokens: 0 },
    ...(Object.keys(other).length === 0 ? {} : { other }),
  };
  const call = { ...meteredUsage({ units, estimated: false }), place };
  const { price_no } = of.versions[place] as PriceVersion;
  await ledger.settle({
    ...settleOf(subject, newRequestId(), costOf(call, of.versions)),
    ...{ endpoint_no: of.endpoint_no, price_no, units },
  });
  return call;
}

/** The catalog of a file in which `acme/m0` has the prices that are proposed. */
async function inFile() {
  const text = readFileSync(path, 'utf8');
  const [begin, end] = [text.indexOf('id: acme/m0'), text.indexOf('id: acme/m1')];
  const changed = text
    .slice(begin, end)
    .replace('"2.50"', '"3.333333"')
    .replace('"20"', '"18.7"')
    .replace('{ input: "1"', '{ input: "1.234567"');
  const other = join(dir, 'other.yaml');
  writeFileSync(other, `${text.slice(0, begin)}${changed}${text.slice(end)}`);
  return loadCatalog(harness.pool, [committedCatalog, other], { formats: builtIn.catalog });
}
const proposed = [
  { kind: 'input', usdPerMillion: '3.333333' },
  { kind: 'output', usdPerMillion: '18.7', fromPromptTokens: 1000 },
  { kind: 'input', usdPerMillion: '1.234567', tier: 'flex' },
];

test('the effect is what the metered calls of thirty days would have cost, to the micro-USD, with bands, tiers and own keys', async () => {
  const endpoint = endpointOf('acme/m0');
  const at_tier = (await catalogAt(world.catalog.current(), 1_250)).endpoints.get(endpoint.id);
  const of = { endpoint_no: endpoint.endpoint_no, versions: pricesOf(endpoint, at_tier) };
  shiftClock(-31 * DAY_MS);
  await settle(1, of);
  const calls: Call[] = [];
  for (const days of [-29, -12, -3, 0]) {
    shiftClock(days * DAY_MS - 60_000);
    for (let n = 0; n < 16; n++) calls.push(await settle(n, of));
    calls.push(await settle(5, of, { insured: 1 }));
  }
  shiftClock(0);
  const { plan } = await prices.preview('acme/m0', prices.inDays(10), proposed);
  const there = await inFile();
  const fresh = pricesOf(
    there.endpoints.get(endpoint.id),
    (await catalogAt(there, 1_250)).endpoints.get(endpoint.id),
  );
  const sum = (versions: readonly PriceVersion[]) =>
    calls.reduce((total, call) => total + costOf(call, versions), 0);
  const cost = sum(of.versions);
  expect(plan.effect).toMatchObject({
    ...{ complete: true, calls: calls.length, costMicroUsd: `${cost}` },
    ...{ beforeMicroUsd: `${cost}`, afterMicroUsd: `${sum(fresh)}` },
  });
  expect(sum(fresh)).not.toBe(cost);
});

test('an endpoint that nobody called has an effect of nothing', async () => {
  const { plan } = await prices.preview('acme/m1', prices.inDays(10), [
    { kind: 'input', usdPerMillion: '9' },
  ]);
  expect(plan.effect).toMatchObject({ complete: true, calls: 0, costMicroUsd: '0', afterMicroUsd: '0' });
});

test('prices at which thirty days cost more than can be counted are refused with their field', async () => {
  const endpoint = endpointOf('acme/m2');
  const of = { endpoint_no: endpoint.endpoint_no, versions: pricesOf(endpoint, endpoint) };
  for (let n = 0; n < 3; n++) await settle(20_000_000, of);
  const huge = (usdPerMillion: string) =>
    prices.preview('acme/m2', prices.inDays(10), [{ kind: 'input', usdPerMillion, fromPromptTokens: 1_000 }]);
  // One call alone, and only all of them together.
  for (const amount of ['999999999', '2000000'])
    expect((await huge(amount)).error).toMatchObject({ code: 'invalid_request', param: 'changes' });
  expect((await huge('1000')).plan.effect.calls).toBe(3);
  expect(world.defects).toEqual([]);
});
