// Prices that change and models that are deprecated: noted once by whoever loads the catalog, and told once to every
// organization that uses the model and subscribes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Catalog, loadCatalog } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { newRequestId, now, shiftClock } from '@svc/core/kernel/index.ts';
import { tellOfModels } from '@svc/core/model-news/index.ts';
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { endWithUs } from '../support/watch.ts';
import { startReceiver } from './receiver.ts';
import { startWorld, type Tenant } from './world.ts';

const DAY_MS = 86_400_000;
/** Where nothing listens: of its deliveries only the rows matter. */
const NOWHERE = 'http://127.0.0.1:65530/hooks';
const world = await startWorld();
const { pool, rows } = world;
const dir = await mkdtemp(join(tmpdir(), 'svc-news-'));
/** As whoever owns the database: holds locks, and ends connections. */
const admin = new pg.Client({ connectionString: world.url });
await admin.connect();
atFileEnd(async () => {
  await admin.end();
  await rm(dir, { recursive: true });
});

/** What organizations of `many` call. */
const MANY = 'acme/many-1';

let serial = 0;
/** Loads a catalog of the model `id` whose input costs `input`; `extra` are further lines of the model. */
async function load(input: string, extra = '', id = 'acme/fast-1'): Promise<Catalog> {
  const path = join(dir, `${++serial}.yaml`);
  await writeFile(
    path,
    `version: 1
providers:
  - { id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/", api_key_env: NONE }
models:
  - id: ${id}
    name: Fast
    context_length: 128000
${extra}
    endpoints:
      - { provider: acme, upstream_model: fast-1, price: { input: "${input}", output: "10" } }
`,
  );
  return loadCatalog(pool, [path], { formats: builtIn.catalog });
}
const news = () =>
  rows<{ topic: string; summary: string }>('select topic, summary from catalog.news order by news_no');
const facts = () =>
  rows<{ org_id: string; payload: Record<string, unknown> }>(
    'select org_id, payload from outbox order by outbox_id',
  );

/** A call of `tenant`, `days` ago, as the call path stores it. */
async function called(
  tenant: Tenant,
  { days = 0, model = 'acme/fast-1', environment = 'live' } = {},
): Promise<void> {
  await rows(
    `insert into usage_hour (org_id, environment, hour, project_id, key_id, model, provider, byok, app_id, requests, ok,
       errors, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro)
     values ($1, $2, date_trunc('hour', now() - $3 * interval '1 day', 'UTC'), $5, 'key', $4, 'acme', false, '', 1, 1, 0, 1, 1,
       0, 0, 0, 1)`,
    [tenant.org_id, environment, days, model, newRequestId()],
  );
}

beforeEach(async () => {
  shiftClock(0);
  await tellOfModels(pool);
  await rows('delete from outbox');
});

test('a change of price reaches who used the model within thirty days and subscribes, with old price and new', async () => {
  const [live, sandbox, long_ago, other_model] = (await Promise.all(
    ['live', 'sandbox', 'long-ago', 'other-model'].map((slug) => world.tenant(slug)),
  )) as [Tenant, Tenant, Tenant, Tenant];
  const receiver = await startReceiver();
  const hook = await live.hook(receiver.url, ['model.price_changed']);
  for (const tenant of [sandbox, long_ago, other_model]) await tenant.hook(NOWHERE, ['*']);
  const deaf = await world.tenant('deaf');
  await deaf.hook(receiver.url, ['key.created']);
  await called(live);
  await called(deaf);
  await called(sandbox, { environment: 'test', days: 29 });
  await called(long_ago, { days: 31 });
  await called(other_model, { model: 'acme/slow-1' });
  const first = await load('2.50');
  expect(await tellOfModels(pool)).toBe(0);
  await load('3');
  expect(await tellOfModels(pool)).toBe(2);
  expect((await facts()).map(({ org_id }) => org_id).sort()).toEqual([live.org_id, sandbox.org_id].sort());
  await world.drain();
  const [event] = receiver
    .verified(hook.secret)
    .filter(({ type }) => type === 'model.price_changed')
    .slice(0, 1);
  expect(event?.data).toEqual({
    model: 'acme/fast-1',
    endpoint_id: first.models.get('acme/fast-1')?.endpoints[0]?.id,
    effective_at: expect.stringMatching(/Z$/),
    summary: 'USD per million units: input 2.5 → 3.',
  });
  // The same files again are no change, and nobody is told again.
  await load('3');
  expect(await tellOfModels(pool)).toBe(0);
});

test('a customer of a reseller, with a tier or without, hears of a change of price, and not what the catalog asks', async () => {
  const [parent, ...children] = (await Promise.all(
    ['parent', 'its-child', 'its-untiered-child'].map((slug) => world.tenant(slug)),
  )) as [Tenant, Tenant, Tenant];
  const tier = 'tier_01KACZ3V8S6T5R4Q3P2N1M0K9J';
  await rows(`update org set kind = 'reseller' where id = $1`, [parent.org_id]);
  await rows(
    `insert into reseller_tier (id, org_id, name, markup_bps, created_at, updated_at)
     values ($1, $2, 'a tier', 1000, now(), now())`,
    [tier, parent.org_id],
  );
  for (const [child, tier_id] of [
    [children[0], tier],
    [children[1], null],
  ] as const) {
    await rows(`update org set kind = 'child', parent_org_id = $2, reseller_tier_id = $3 where id = $1`, [
      ...[child.org_id, parent.org_id, tier_id],
    ]);
    await child.hook(NOWHERE, ['*']);
    await called(child, { model: 'acme/resold-1' });
  }
  await load('2', '', 'acme/resold-1');
  await load('3', '', 'acme/resold-1');
  expect(await tellOfModels(pool)).toBe(2);
  for (const child of children) {
    const [fact] = (await facts()).filter(({ org_id }) => org_id === child.org_id);
    expect(fact?.payload).toMatchObject({
      ...{ model: 'acme/resold-1', summary: 'The price changes; GET /v1/models has yours.' },
    });
  }
});

test('processes that load a change at once note it once, and one that dies in the middle notes nothing', async () => {
  await load('1');
  const before = (await news()).length;
  await Promise.all(Array.from({ length: 6 }, () => load('1.5')));
  expect((await news()).slice(before)).toEqual([
    { topic: 'model.price_changed', summary: 'USD per million units: input 1 → 1.5.' },
  ]);

  // It has numbered the price and written its history when it must wait to note the change, and is ended there.
  await admin.query('begin');
  await admin.query('lock table catalog.news in share mode');
  const lost = load('1.75');
  lost.catch(() => {});
  const waiting = () =>
    admin.query<{ pid: number }>(
      `select pid from pg_locks join pg_class on pg_class.oid = relation where relname = 'news' and not granted`,
    );
  await expect.poll(async () => (await waiting()).rows.length, { timeout: 10_000 }).toBe(1);
  await admin.query('select pg_terminate_backend($1)', [(await waiting()).rows[0]?.pid]);
  await expect(lost).rejects.toThrow();
  await admin.query('commit');
  expect(await news()).toHaveLength(before + 1);
  await Promise.all([load('1.75'), load('1.75')]);
  expect((await news()).slice(before + 1)).toEqual([
    { topic: 'model.price_changed', summary: 'USD per million units: input 1.5 → 1.75.' },
  ]);
});

test('a model is told of on the day on which it is deprecated, and when its last day moves', async () => {
  const day = (days: number) => new Date(now().getTime() + days * DAY_MS).toISOString().slice(0, 10);
  const dated = (deprecated: number, retires: number | null, id = 'acme/old-1') =>
    load(
      '1',
      `    deprecated_at: ${day(deprecated)}${retires === null ? '' : `\n    retires_at: ${day(retires)}`}`,
      id,
    );
  const summaries = async () => (await news()).slice(before).map(({ summary }) => summary);
  // Deprecated when it is first seen: there was nothing before, so nobody is told.
  await dated(-30, 60, 'acme/older-1');
  let before = (await news()).length;
  await dated(2, null);
  expect(await summaries()).toEqual([]);
  const [deprecated_on, retires_on, later_on] = [day(2), day(90), day(120)];
  shiftClock(2 * DAY_MS);
  await dated(0, null);
  await dated(0, null);
  expect(await summaries()).toEqual(['The model is deprecated; no day is set from which it is not called.']);
  expect(await rows(`select effective_at from catalog.news where topic = 'model.deprecated'`)).toEqual([
    { effective_at: new Date(deprecated_on) },
  ]);
  await dated(0, 88);
  await Promise.all([dated(0, 118), dated(0, 118)]);
  expect((await summaries()).slice(1)).toEqual([
    `The model is deprecated. From ${retires_on} on it is not called.`,
    `The model is deprecated. From ${later_on} on it is not called.`,
  ]);
  // Taken back is no event; deprecated again is one.
  before = (await news()).length;
  await load('1', '', 'acme/old-1');
  expect(await summaries()).toEqual([]);
  await load('1', `    retires_at: ${day(30)}`, 'acme/old-1');
  expect(await summaries()).toEqual([`The model is deprecated. From ${day(30)} on it is not called.`]);
});

/** `count` organizations like that of `tenant`, with an endpoint that subscribes to `events`; those of `used` called the model. */
async function many(
  tenant: Tenant,
  of: { mark: string; count: number; events: string[]; used: number },
): Promise<void> {
  const columns = (
    await rows<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_name = 'org' and table_schema = 'public'
          and column_name not in ('id', 'slug', 'live_book_id', 'sandbox_book_id')`,
    )
  ).map(({ name }) => name);
  const ids = `'org_' || lpad($2 || n, 26, '0')`;
  await rows(
    `insert into org (id, slug, ${columns.join(', ')})
     select ${ids}, lower($2) || n, ${columns.join(', ')} from org, generate_series(1, $3::int) as n where id = $1`,
    [tenant.org_id, of.mark, of.count],
  );
  await rows(
    `insert into webhook (id, org_id, url, events, secret_sealed, secret_hint, created_at, updated_at)
     select 'wh_' || lpad($1 || n, 26, '0'), 'org_' || lpad($1 || n, 26, '0'), $3, $4, '', '', now(), now()
       from generate_series(1, $2::int) as n`,
    [of.mark, of.count, NOWHERE, of.events],
  );
  await rows(
    `insert into usage_hour (org_id, environment, hour, project_id, key_id, model, provider, byok, app_id, requests, ok,
       errors, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro)
     select 'org_' || lpad($1 || n, 26, '0'), 'live', date_trunc('hour', now(), 'UTC'), '', 'key', '${MANY}', 'acme', false,
       '', 1, 1, 0, 1, 1, 0, 0, 0, 1 from generate_series(1, $2::int) as n`,
    [of.mark, of.used],
  );
}

test('a process that is killed while it tells leaves nobody out, and nobody is told twice', async () => {
  await load('5', '', MANY);
  await tellOfModels(pool);
  await many(await world.tenant('killed'), { mark: 'K', count: 250, events: ['*'], used: 250 });
  await load('6', '', MANY);
  // The second transaction waits in the middle of its facts.
  await admin.query(`
    create function wait_for_test() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(4242); return new; end $$`);
  const [stop] = await rows<{ org_id: string }>(
    `select org_id from webhook where org_id like 'org_0000%K%' order by org_id offset 150 limit 1`,
  );
  await admin.query(`
    create trigger wait_for_test before insert on outbox for each row when (new.org_id = '${stop?.org_id}')
    execute function wait_for_test()`);
  await admin.query('select pg_advisory_lock(4242)');
  const program = new URL('./tell-process.ts', import.meta.url).pathname;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const start = () =>
    spawn(process.execPath, [program], {
      env: { PATH, NODE_COMPILE_CACHE, SVC_DATABASE_URL: world.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const first = start();
  const ended = once(first, 'exit');
  endWithUs(first.pid as number, ended);
  const waits = () =>
    rows<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and objid = 4242 and not granted`,
    );
  await expect.poll(async () => (await waits()).length, { timeout: 30_000 }).toBe(1);
  const [left] = await waits();
  first.kill('SIGKILL');
  await ended;
  // The connection that it left finishes its statement, finds nobody there, and undoes its transaction.
  await admin.query('select pg_advisory_unlock(4242)');
  const stillThere = () => rows('select 1 from pg_stat_activity where pid = $1', [left?.pid]);
  await expect.poll(stillThere, { timeout: 10_000 }).toEqual([]);
  await admin.query('drop trigger wait_for_test on outbox');
  expect(await facts()).toHaveLength(100);
  const second = start();
  let said = '';
  second.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  await once(second, 'close');
  expect(said).toBe('told 150\n');
  const org_ids = (await facts()).map(({ org_id }) => org_id);
  expect(new Set(org_ids).size).toBe(250);
  expect(org_ids).toHaveLength(250);
}, 60_000);

test('of ten thousand organizations only those that use the model and hear of it get a row, and the load waits for none', async () => {
  const tenant = await world.tenant('many');
  await load('8', '', MANY);
  await tellOfModels(pool);
  await rows('delete from outbox');
  await many(tenant, { mark: 'M', count: 5_000, events: ['*'], used: 400 });
  await many(tenant, { mark: 'D', count: 5_000, events: ['key.created'], used: 5_000 });
  // Nobody can read these tables meanwhile, so that a load which asked for an organization would not end.
  await admin.query('begin');
  await admin.query('lock table org, webhook, usage_hour, request_row, outbox in access exclusive mode');
  await load('9', '', MANY);
  await admin.query('commit');
  expect(await facts()).toEqual([]);
  await Promise.all([tellOfModels(pool), tellOfModels(pool), tellOfModels(pool)]);
  await tellOfModels(pool);
  expect(await rows('select 1 from catalog.news where announced_through is not null')).toEqual([]);
  const of_many = (await facts()).filter(({ org_id }) => /0M\d+$/.test(org_id));
  expect(of_many).toHaveLength(400);
  expect(new Set(of_many.map(({ org_id }) => org_id)).size).toBe(400);
  expect((await facts()).filter(({ org_id }) => /0D\d+$/.test(org_id))).toEqual([]);
}, 60_000);

test('a model that left the catalog an hour ago is told once to who used it and subscribes, and to nobody else', async () => {
  const [user, other] = (await Promise.all(['left', 'left-other'].map((slug) => world.tenant(slug)))) as [
    Tenant,
    Tenant,
  ];
  for (const tenant of [user, other]) await tenant.hook(NOWHERE, ['model.deprecated']);
  await called(user, { model: 'acme/left-1' });
  await load('1', '', 'acme/left-1');
  await load('1', '', 'acme/stays-1');
  await tellOfModels(pool);
  const ofModel = async () => (await facts()).filter(({ payload }) => payload['model'] === 'acme/left-1');
  expect(await ofModel()).toEqual([]);
  shiftClock(3_601_000);
  await Promise.all([tellOfModels(pool), tellOfModels(pool), tellOfModels(pool)]);
  await tellOfModels(pool);
  expect(await ofModel()).toEqual([
    {
      org_id: user.org_id,
      payload: {
        ...{ model: 'acme/left-1', endpoint_id: null, effective_at: expect.stringMatching(/Z$/) },
        summary: 'The model is not offered any more.',
      },
    },
  ]);
});
