// Rules 1 to 5 of pagination, for every paged list: keys, calls, ledger entries.

import { microUsd } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startHarness, type Tenant } from './harness.ts';
import { rowOf } from './rows.ts';
import { makeTopup } from './topup-rows.ts';

const harness = await startHarness();

interface Feed {
  readonly path: string;
  readonly default_limit: number;
  readonly max_limit: number;
  /** Adds a row to the tenant's list. */
  add(tenant: Tenant): Promise<void>;
  idOf(row: Record<string, unknown>): string;
}

let entries = 0;
const feeds: Feed[] = [
  {
    path: '/v1/keys',
    default_limit: 100,
    max_limit: 200,
    add: async (tenant) => void (await harness.makeKey(tenant)),
    idOf: (row) => row['id'] as string,
  },
  {
    path: '/v1/requests',
    default_limit: 50,
    max_limit: 500,
    async add(tenant) {
      harness.request_log.write(rowOf(tenant));
      await harness.request_log.flush();
    },
    idOf: (row) => row['request_id'] as string,
  },
  {
    path: '/v1/credits/ledger',
    default_limit: 50,
    max_limit: 500,
    async add(tenant) {
      await credit(harness.pool, {
        book_id: tenant.org.live_book_id,
        kind: 'grant',
        amount_micro_usd: microUsd(1_000),
        granted: true,
        expires_at: null,
        ref_type: 'staff',
        ref_id: `page test ${++entries}`,
      });
    },
    idOf: (row) => String(row['seq']),
  },
  ...['/v1/credits/topups', '/v1/invoices'].map((path) => ({
    path,
    default_limit: 50,
    max_limit: 200,
    add: async (tenant: Tenant) => void (await makeTopup(harness.context, tenant)),
    idOf: (row: Record<string, unknown>) => row['id'] as string,
  })),
];

interface Page {
  data: Record<string, unknown>[];
  next_cursor: string;
}

async function page(tenant: Tenant, path: string, query: Record<string, string>): Promise<Page> {
  const response = await harness.call('GET', `${path}?${new URLSearchParams(query)}`, { key: tenant.key });
  expect(response.statusCode).toBe(200);
  return response.json() as Page;
}

let serial = 0;
test.each(feeds.map((feed) => [feed.path, feed] as const))(
  '%s: a full walk sees every row there was once, newest first, while rows are added',
  async (path, feed) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 10, maxLength: 10 }),
        async (rows, limit, arrivals) => {
          const tenant = await harness.makeTenant(`walk-${++serial}`);
          for (let i = 0; i < rows; i++) await feed.add(tenant);
          const all = (await page(tenant, path, { limit: String(feed.max_limit) })).data.map(feed.idOf);
          const walked: string[] = [];
          let cursor = '';
          do {
            const found: Page = await page(tenant, path, { limit: String(limit), cursor });
            expect(found.data.length).toBeLessThanOrEqual(limit);
            walked.push(...found.data.map(feed.idOf));
            cursor = found.next_cursor;
            for (let i = arrivals.pop() ?? 0; i > 0; i--) await feed.add(tenant);
          } while (cursor !== '');
          expect(walked).toEqual(all);
        },
      ),
      { numRuns: 6 },
    );
  },
);

test.each(feeds.map((feed) => [feed.path, feed] as const))(
  '%s: a cursor that was not issued for this walk gives the first page',
  async (path, feed) => {
    const tenant = await harness.makeTenant(`cursor-${++serial}`);
    const other = await harness.makeTenant(`cursor-${++serial}`);
    for (let i = 0; i < 3; i++) {
      await feed.add(tenant);
      await feed.add(other);
    }
    const first = await page(tenant, path, { limit: '2' });
    const own = first.next_cursor;
    const foreign = (await page(other, path, { limit: '2' })).next_cursor;
    const elsewhere = await page(tenant, path === '/v1/keys' ? '/v1/credits/ledger' : '/v1/keys', {
      limit: '1',
    });
    const unissued = [
      'x',
      '!!!',
      'a'.repeat(5_000),
      foreign,
      elsewhere.next_cursor,
      own.slice(0, -2),
      `${own}AA`,
      `A${own}`,
      Buffer.from('[1,"page",0,""]').toString('base64url'),
    ];
    for (const cursor of unissued) expect(await page(tenant, path, { limit: '2', cursor })).toEqual(first);
    expect(await page(tenant, path, { limit: '2', cursor: own })).not.toEqual(first);
  },
);

test('a cursor of one filter gives the first page of another', async () => {
  const tenant = await harness.makeTenant(`filter-${++serial}`);
  for (let i = 0; i < 4; i++) await harness.makeKey(tenant);
  const { next_cursor: cursor } = await page(tenant, '/v1/keys', { limit: '2' });
  const active = await page(tenant, '/v1/keys', { limit: '2', status: 'active' });
  expect(await page(tenant, '/v1/keys', { limit: '2', status: 'active', cursor })).toEqual(active);
});

test.each(feeds.map((feed) => [feed.path, feed] as const))(
  '%s: limit is from 1 to its maximum and has its default',
  async (path, feed) => {
    const tenant = await harness.makeTenant(`limit-${++serial}`);
    for (const limit of ['0', '-1', String(feed.max_limit + 1), '1.5', 'ten', '', '1e2']) {
      const response = await harness.call('GET', `${path}?limit=${limit}`, { key: tenant.key });
      expect([limit, response.statusCode, response.json().error.param]).toEqual([limit, 400, 'limit']);
    }
    if (feed.default_limit > 50) return;
    for (let i = 0; i <= feed.default_limit; i++) await feed.add(tenant);
    const found = await page(tenant, path, {});
    expect(found.data.length).toBe(feed.default_limit);
    expect(found.next_cursor).not.toBe('');
  },
);

test('a list returned whole ignores limit and cursor whatever they are', async () => {
  for (const query of ['limit=1000', 'limit=-5', 'cursor=zzz']) {
    const response = await harness.call('GET', `/v1/models?${query}`, { key: harness.a.key });
    expect(response.statusCode).toBe(200);
    expect(response.json().next_cursor).toBeUndefined();
  }
});

test('no caller of the walk met a defect', () => {
  expect(harness.defects).toEqual([]);
});
