// Both engines, given the same rows, give the same answers: every question of the interface, over rows of every kind.
import type { RowReader } from '@svc/core/analytics/engine/types.ts';
import type { RowFilter } from '@svc/core/analytics/store.ts';
import type { RequestRow } from '@svc/core/analytics/types.ts';
import { SUMMED_FIGURES, type UsageApart, type UsageSum } from '@svc/core/analytics/usage/sums-store.ts';
import { usageGroupings } from '@svc/core/analytics/usage.ts';
import { ANY_CALLER, type UsageFilter } from '@svc/core/analytics/usage-store.ts';
import type { Id, RequestId } from '@svc/core/kernel/index.ts';
import { decodeTime, ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { bucketsOf } from './buckets.ts';
import { type Engines, openEngines } from './engines.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const start = Math.floor((Date.now() - 4 * DAY_MS) / DAY_MS) * DAY_MS;
const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>;
const other_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9K' as Id<'org'>;

/** The same numbers each time, without a seed that somebody has to note. */
function numbers(): (below: number) => number {
  let state = 20_261_127;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** As routes are traced, in part and not at all. */
const traces = [
  {
    plan: [{ endpoint_id: 'ep_1' }, { endpoint_id: 'ep_0' }],
    attempts: [{ endpoint_id: 'ep_0', outcome: 'error' }],
  },
  { plan: [], attempts: [{ endpoint_id: 'ep_1' }] },
] as unknown as RequestRow['route_trace'][];

function oneRow(pick: (below: number) => number, i: number): RequestRow {
  const owner = pick(5) === 0 ? other_id : org_id;
  const status = (['ok', 'ok', 'ok', 'error', 'cancelled', 'rejected'] as const)[
    pick(6)
  ] as RequestRow['status'];
  const tenant = { org: { id: owner }, live: { id: `prj_${pick(2)}` }, key_id: `key_${pick(3)}` };
  const row = rowOf(tenant as unknown as Tenant, {
    request_id: ulid(start + pick(3 * DAY_MS)) as RequestId,
    environment: pick(6) === 0 ? 'test' : 'live',
    ...{ status, model: `acme/m-${pick(3)}`, provider: ['acme', 'beta', 'sandbox'][pick(3)] as string },
    error_code: status === 'error' ? 'upstream_overloaded' : '',
    ...{
      cost_micro: pick(100_000),
      input_tokens: pick(5_000),
      byok: pick(4) === 0,
      app_id: `app-${pick(3)}`,
    },
    tags: pick(3) === 0 ? { team: `t${pick(2)}` } : {},
    session_id: pick(3) === 0 ? '' : `run-${pick(3)}`,
    route_trace: traces[pick(3)] ?? null,
    ...{ user_hash: pick(5) === 0 ? '' : `u${pick(4)}`, attempts: 1 + pick(2), endpoint_id: `ep_${pick(2)}` },
  });
  const [attempt] = row.attempt_rows as [RequestRow['attempt_rows'][number]];
  const attempt_rows = Array.from({ length: row.attempts }, (_, n) => ({
    ...attempt,
    ...{ attempt: n + 1, ttft_ms: pick(3) === 0 ? null : 20 + pick(4_000), duration_ms: 5_000 + pick(9_000) },
    ...{ provider: row.provider, endpoint_id: row.endpoint_id, output_tokens: pick(200) },
    outcome: (['ok', 'ok', 'error', 'cancelled'] as const)[pick(4)] as 'ok',
    error_class: ['', 'client', 'server', 'rate_limit'][pick(4)] as string,
    pool_id: pick(4) === 0 ? 'byok' : 'main',
  }));
  return { ...row, attempt_rows, ttft_ms: i % 7 === 0 ? null : row.ttft_ms };
}

const pick = numbers();
const rows = Array.from({ length: 400 }, (_, i) => oneRow(pick, i));
const copied = rows.filter((row) => row.org_id === org_id).slice(0, 3);
const copies = copied.map(({ request_id, environment }, i) => ({
  ...rowOf({ org: { id: org_id }, live: { id: 'prj_0' }, key_id: 'key_0' } as unknown as Tenant),
  environment,
  request_id: ulid(decodeTime(request_id) + 60_000 + i) as RequestId,
  tags: { shadow_of: request_id },
}));

let engines: Engines;
beforeAll(async () => {
  engines = await openEngines();
  for (const { sink } of engines.both) {
    for (let at = 0; at < rows.length; at += 90) await sink.insert(rows.slice(at, at + 100));
    await sink.insert(copies);
  }
}, 120_000);

/** Asks both and compares; rows that come in no order are brought into one. */
async function same(ask: (reader: RowReader) => Promise<unknown>, sorted = false): Promise<unknown> {
  const said = await Promise.all(engines.both.map(({ reader }) => ask(reader)));
  const plain = said.map((one) =>
    sorted ? (one as unknown[]).map((item) => JSON.stringify(item, sortedKeys)).sort() : one,
  );
  expect(plain[1]).toEqual(plain[0]);
  return said[0];
}

function sortedKeys(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const ids = rows.map(({ request_id }) => request_id);
const place = { org_id, environment: 'live' as const };
const nothing: RowFilter = {
  ...{ since: null, until: null, project_id: null, key_id: null, model: null, provider: null, status: null },
  ...{ errors_only: false, fallbacks_only: false, min_cost_micro: null, max_cost_micro: null, q: null },
  ...ANY_CALLER,
};

/** What callers said of calls: of some that did and of those that did not. */
const SAID: readonly Partial<RowFilter & UsageFilter>[] = [
  ...[{ user: 'u1' }, { user: '' }],
  ...[{ session: 'run-1' }, { session: '' }, { app: 'app-1' }, { app: '' }],
  ...[{ tag: 'team' }, { tag: 'team', tag_value: '' }, { tag: 'team', tag_value: 't1' }, { tag: 'none' }],
];

/** What sums of buckets and keys are apart. */
function apartOf(sums: readonly UsageSum[]): UsageApart {
  const add = (some: readonly UsageSum[]) =>
    Object.fromEntries(
      SUMMED_FIGURES.map((name) => [name, some.reduce((total, sum) => total + sum[name], 0)]),
    ) as Record<(typeof SUMMED_FIGURES)[number], number>;
  const by_bucket = Map.groupBy(sums, ({ bucket }) => bucket.getTime());
  const by_key = Map.groupBy(sums, ({ key }) => key);
  return {
    series: [...by_bucket].map(([at, some]) => ({ bucket: new Date(at), ...add(some) })),
    groups: [...by_key].map(([key, some]) => ({ key, ...add(some) })),
  };
}

function inOrder({ series, groups }: UsageApart): UsageApart {
  return {
    series: series.toSorted((a, b) => a.bucket.getTime() - b.bucket.getTime()),
    groups: groups.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  };
}

describe('usage is the same by every grouping and bucket, to the micro-USD', () => {
  const ranges = [
    { from: new Date(start), to: new Date(start + 3 * DAY_MS) },
    { from: new Date(start + 1_234_567), to: new Date(start + 50 * HOUR_MS + 89) },
  ];
  const filters: Partial<UsageFilter>[] = [
    ...[{}, { model: 'acme/m-1' }, { key_id: 'key_2', provider: 'acme' }, { project_id: 'prj_1' }],
    ...SAID,
  ];
  const all = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };
  let asked = 0;

  test.each(filters)('of %j', async (filter) => {
    for (const range of ranges)
      for (const group of [null, ...usageGroupings])
        for (const unit of ['hour', 'day', 'all'] as const) {
          const most = unit === 'day' && group === 'user' ? 2 : null;
          const by = { ...bucketsOf(range, unit), group, tag: group === 'tag' ? 'team' : null, most };
          const sums = await same(
            (reader) => reader.sumUsage({ ...place, ...range, ...all, ...filter }, by),
            true,
          );
          asked += (sums as unknown[]).length;
          // Apart they are the sums of these, in each engine.
          const apart = await same(async (reader) =>
            inOrder(await reader.sumUsageApart({ ...place, ...range, ...all, ...filter }, by)),
          );
          expect(apart).toEqual(inOrder(apartOf(sums as UsageSum[])));
        }
  });

  test('and many sums were compared', () => expect(asked).toBeGreaterThan(1_000));
});

test('lists and their pages are the same under every filter', async () => {
  const mid = new Date(start + DAY_MS);
  const filters: Partial<RowFilter>[] = [
    ...[{}, { since: mid }, { until: mid }, { model: 'acme/m-2' }, { provider: 'beta' }, { status: 'error' }],
    ...[
      { errors_only: true },
      { fallbacks_only: true },
      { min_cost_micro: 50_000 },
      { max_cost_micro: 9_000 },
    ],
    ...[{ project_id: 'prj_1' }, { key_id: 'key_1' }, { q: (ids[0] as string).slice(0, 6) }, { q: 'ZZ' }],
    ...SAID,
  ];
  for (const filter of filters) {
    let after: { at: number; id: string } | null = null;
    for (let pages = 0; pages < 30; pages++) {
      const args = { ...place, filter: { ...nothing, ...filter }, after, limit: 40 };
      const page = (await same((reader) =>
        reader.listRows(args as typeof args & { after: null }).then(bare),
      )) as {
        request_id: string;
        ts: Date;
      }[];
      const last = page.at(-1);
      if (page.length < 40 || last === undefined) break;
      after = { at: last.ts.getTime(), id: last.request_id };
    }
  }
});

/** Rows without what only one engine says in a list. */
const bare = (list: readonly object[]) => list.map(({ replays: _, ...row }: { replays?: number }) => row);

test('one call is found by its own organization and environment alone, with its attempts and copies', async () => {
  for (const environment of ['live', 'test', null] as const) {
    const sight = { org_id, environment };
    await same((reader) => reader.findRows({ ...sight, request_ids: ids }), true);
    await same((reader) => reader.findRow({ ...sight, request_id: ids[3] as string }));
    await same((reader) => reader.listCopies({ ...sight, request_ids: ids }));
  }
  await same((reader) => reader.listAttemptsOf(ids));
  await same((reader) => reader.listAttempts(ids[7] as string));
  const found = await same((reader) => reader.findRow({ ...place, request_id: ulid() as RequestId }));
  expect(found).toBeNull();
  const of_copied = await engines.both[1].reader.listCopies({
    ...{ org_id, environment: null },
    request_ids: copied.map(({ request_id }) => request_id),
  });
  expect(of_copied.size).toBe(3);
});

test('feeds, end users, costs, answered calls, models and users are the same', async () => {
  const since = new Date(start + DAY_MS);
  await same((reader) =>
    reader.listArrivals({ ...place, since, known: ids.slice(0, 50), limit: 60 }).then(bare),
  );
  await same((reader) => reader.listArrivals({ ...place, since, known: [], limit: 500 }).then(bare));
  await same((reader) => reader.readCosts({ org_id, request_ids: ids }));
  await same((reader) => reader.countCapacity({ ...place, since }));
  for (const project_id of [null, 'prj_1'])
    await same((reader) =>
      reader.listAnswered({
        ...{
          ...place,
          project_id,
          without: ['prj_9'],
          from: since,
          to: new Date(start + 2 * DAY_MS),
          limit: 30,
        },
      }),
    );
  const page = (await same((reader) =>
    reader.pageSubjectCalls({ org_id, subject_hash: 'u1', after: null, limit: 10 }),
  )) as Parameters<RowReader['pageSubjectCalls']>[0]['after'][];
  expect(page).toHaveLength(10);
  await same((reader) =>
    reader.pageSubjectCalls({ org_id, subject_hash: 'u1', after: page.at(-1) ?? null, limit: 500 }),
  );
  const used = { org_ids: [org_id, other_id], models: ['acme/m-0', 'acme/m-2', 'acme/none'], since };
  const sortedModels = async (reader: RowReader) =>
    [...(await reader.listModelsUsed(used))].map(([id, models]) => [id, [...models].sort()]).sort();
  await same(sortedModels);
  for (const limit of [7, 500])
    await same((reader) => reader.listAdvisedCalls({ ...place, from: since, to: new Date(), limit }));
  await same((reader) => reader.listUsers(since), true);
  const span = { org_ids: [org_id, other_id], from: since, to: new Date() };
  for (const group of ['org', 'model', null] as const)
    for (const unit of ['hour', 'day'] as const)
      await same((reader) => reader.sumOrgs(span, { ...bucketsOf(span, unit), group }), true);
});

test('days of endpoints and apps are the same, with their middles and steps', async () => {
  for (let day = 0; day < 4; day++) {
    const date = new Date(start + day * DAY_MS).toISOString().slice(0, 10);
    const near = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(12)) : value);
    await same(
      async (reader) =>
        (await reader.sumEndpoints(date)).map((sum) =>
          Object.fromEntries(Object.entries(sum).map(([name, value]) => [name, near(value)])),
        ),
      true,
    );
    await same((reader) => reader.sumAppCalls(date), true);
  }
});
