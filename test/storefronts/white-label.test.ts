// What a customer of a reseller sees bears the reseller's name, and nothing of us, of what the reseller earns, and of others.

import { Streams } from '@svc/admin-graphql/streams.ts';
import { createTenantApp } from '@svc/admin-graphql/tenant.ts';
import { openRequestFeed } from '@svc/core/analytics/index.ts';
import { writeSetting } from '@svc/core/db/index.ts';
import { DEMO_SUPPLIER } from '@svc/core/invoices/index.ts';
import { nowMs, silentLog } from '@svc/core/kernel/index.ts';
import { findTemplate, render, type TemplateName, templates } from '@svc/core/mail/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { settingsOf, surroundingsOf } from '@svc/core/storefronts/index.ts';
import { tenantSchema } from '@svc/graphql/tenant/schema.ts';
import { type GraphQLObjectType, getNamedType, isNonNullType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import type { Method, Tenant } from '../registry/harness.ts';
import { atFileEnd } from '../support/ends.ts';
import { markedCatalog } from './marked-catalog.ts';
import { startStorefronts } from './world.ts';

const HOST = 'ai.customer.example';
const NAME = 'Glasswing AI';
const world = await startStorefronts({}, { catalog: [await markedCatalog()] });
const { harness, ask, rows } = world;
const parent = await world.reseller('zq-parent');
const sibling = await harness.makeTenant('zq-sibling');
const child = await harness.makeTenant('a-child');
// Whose reseller adds nothing, with a tier that says so and without one.
const bare = await harness.makeTenant('a-bare-child');
const untiered = await harness.makeTenant('an-untiered-child');
const makeTier = (name: string, markup_bps: number) =>
  ask<{ id: string }>('POST', '/v1/reseller/tiers', parent.token, { name, markup_bps }, 201);
const tier = await makeTier('zq-tier', 1_337);
const nothing = await makeTier('zq-nothing', 0);
for (const [{ org }, tier_id] of [
  [child, tier.id],
  [sibling, tier.id],
  [bare, nothing.id],
  [untiered, null],
] as const)
  await rows(`update org set kind = 'child', parent_org_id = $2, reseller_tier_id = $3 where id = $1`, [
    ...[org.id, parent.org.id, tier_id],
  ]);
const shop = { display_name: NAME, primary_color: '#0b6e4f', support_email: 'help@customer.example' };
await ask('PUT', '/v1/reseller/storefront', parent.token, shop);
world.publish(await world.claim(parent, HOST));
await world.verify(parent, HOST);
const person = await harness.makePerson(child, 'owner');
const session = await harness.signIn(person);
const signedIn = async (tenant: Tenant) =>
  [tenant.org.slug, tenant, await harness.signIn(await harness.makePerson(tenant, 'owner'))] as const;
const customers = [[child.org.slug, child, session] as const, await signedIn(bare), await signedIn(untiered)];

// What we are called where tax is paid, and what we earn on models.
const operator = { legal_name: 'Zq Operator Limited', address: ['1 Zq Road'], gstin: '29AAACZ0000A1Z5' };
for (const [name, value] of [
  ['supplier', { ...DEMO_SUPPLIER, ...operator }],
  ['markup', { frontier_bps: 7_331 }],
] as const)
  await writeSetting(harness.pool, { name, value, at: new Date(nowMs()) });

/** What a customer must not find: our names and addresses, the reseller's own name and tier, and other customers. */
const HIDDEN = [
  ...['LLM gateway', 'platform.example', '127.0.0.1:8080', 'svc console', 'svc.invalid', '//svc.example'],
  ...['zq-parent', 'zq-tier', 'zq-nothing', 'zq-sibling', tier.id, nothing.id, sibling.org.id, '1337'],
  ...['llm.platform', 'Zq Operator', '29AAACZ0000', 'Zq Road', '7331'],
];
// What is added to a price is 0 to whoever pays it, and what the tiers are called is nobody's but the reseller's.
const ADDED = /markup_?bps\\?":\s*[1-9]\d*/gi;
const named = (text: string) => HIDDEN.filter((word) => text.includes(word));
const found = (text: string) => [...named(text), ...(text.match(ADDED) ?? [])];

/** What is asked for with a key, with a session, or without either, as each operation lets a customer. */
const asked = operations.filter(({ audience }) => audience.kind !== 'signed' && audience.kind !== 'staff');

test.each(customers)(
  'no operation of %s, and no refusal, names us, the tier, what is added, or others',
  async (...of) => {
    const [, child, session] = of;
    const seen: unknown[] = [];
    for (const operation of asked) {
      const { audience, method, name } = operation;
      const path = operation.path
        .replace('/v1/orgs/:id', `/v1/orgs/${child.org.id}`)
        .replace('/:vendor/:model', '/openai/gpt-4o-mini')
        .replace('/v1/models/:name', '/v1/models/gpt-4o-mini')
        .replaceAll(/:[a-z_0-9]+/g, 'x');
      const keys = [
        ...(audience.kind === 'public' ? [undefined] : []),
        ...(audience.kind === 'key' ? [child.key] : []),
        ...(audience.kind === 'session' || audience.kind === 'key' ? [session] : []),
      ];
      // These would end what is asked with.
      if (/logout|close|erasure/.test(name)) continue;
      // Who processes personal data is named to whoever must tell of a breach, under whatever name it is sold.
      if (name === 'legal.breach_template') continue;
      const body = method === 'GET' || method === 'DELETE' ? undefined : { unknown_field: 1 };
      for (const key of keys) {
        const reply = await harness.call(method as Method, path, {
          ...{ headers: { host: HOST }, ip: '198.51.100.7' },
          ...(key === undefined ? {} : { key }),
          ...(body === undefined ? {} : { body }),
        });
        const words = found(`${JSON.stringify(reply.headers)}${reply.body}`);
        if (words.length > 0) seen.push([name, reply.statusCode, words]);
      }
    }
    expect(asked.length).toBeGreaterThan(150);
    expect(seen).toEqual([]);
  },
);

/** Writes whose example is accepted as it stands; single sign-on would ask the provider of its example. */
const written = asked.filter(
  ({ request, path, method, name, audience }) =>
    request !== undefined &&
    !path.includes('/:') &&
    method !== 'GET' &&
    audience.kind !== 'public' &&
    name !== 'sso.put',
);

test.each(customers)(
  'what %s makes names nobody else, and neither does a mail that it causes',
  async (...of) => {
    const [slug, child, session] = of;
    const made: string[] = [];
    const seen: unknown[] = [];
    const send = async (method: Method, path: string, body: object) => {
      const headers = { host: HOST };
      const reply = await harness.call(method, path, { headers, key: session, body, ip: '198.51.100.8' });
      const words = found(`${JSON.stringify(reply.headers)}${reply.body}`);
      if (words.length > 0) seen.push([path, reply.statusCode, words]);
      if (reply.statusCode < 300) made.push(path);
    };
    // It waits ten seconds for a process that writes rows: once is enough.
    for (const { method, path, request, name } of written)
      if (name !== 'privacy.erasure' || slug === 'a-child')
        await send(method as Method, path, request as object);
    const guest = { email: 'guest@customer.example', role: 'viewer' };
    await send('POST', `/v1/orgs/${child.org.id}/invitations`, guest);
    await send('POST', '/v1/keys', { project_id: child.live.id, name: 'checkout', scopes: ['inference'] });
    await send('POST', '/v1/tickets', { subject: 'A question', body: 'What is a token?' });
    expect(made).toEqual(
      expect.arrayContaining([
        ...['/v1/projects', '/v1/keys', '/v1/webhooks', '/v1/tickets', '/v1/evals/suites'],
        `/v1/orgs/${child.org.id}/invitations`,
      ]),
    );
    expect(seen).toEqual([]);
    type Sent = { template: TemplateName; recipient_key: string; data: Record<string, unknown> };
    const mails = await rows<Sent>('select template, recipient_key, data from mail where org_id = $1', [
      child.org.id,
    ]);
    expect(mails.map(({ template }) => template)).toContain('invitation');
    for (const { template, recipient_key, data } of mails) {
      const content = findTemplate(template)!.content(data, '/secret#t');
      const { text, html } = render(content, await around(child.org.id, recipient_key, data));
      expect([template, found(text + html)]).toEqual([template, []]);
    }
  },
);

test('a customer whose reseller adds nothing sees the price of the catalog, and not what of it we add', async () => {
  interface Priced {
    readonly markup_bps: number;
    readonly pricing_from: { readonly input: number };
  }
  const list = async (key: string, path = '/v1/models') =>
    (await ask<{ data: (Priced & { id: string })[] }>('GET', path, key)).data;
  const catalog = await list(parent.key);
  const priced = (models: readonly Priced[]) => models.map(({ pricing_from }) => pricing_from);
  expect(new Set(catalog.map(({ markup_bps }) => markup_bps))).toContain(5_000);
  for (const [, tenant, session] of customers.slice(1)) {
    for (const key of [tenant.key, session]) {
      const own = await list(key);
      expect(own.map(({ markup_bps }) => markup_bps).filter((bps) => bps !== 0)).toEqual([]);
      expect(priced(own)).toEqual(priced(catalog));
      const path = '/v1/models/openai/gpt-4o-mini/endpoints';
      expect((await list(key, path)).map(({ markup_bps }) => markup_bps)).toEqual([0, 0]);
    }
    expect((await list(tenant.test_key)).every(({ markup_bps }) => markup_bps === 0)).toBe(true);
  }
  // Who stops being a customer of a reseller is shown what everybody is, within a second and by the same key.
  const { org, key } = untiered;
  await rows(`update org set kind = 'team', parent_org_id = null where id = $1`, [org.id]);
  await expect.poll(async () => (await list(key))[0]?.markup_bps).toBe(5_000);
  await rows(`update org set kind = 'child', parent_org_id = $2 where id = $1`, [org.id, parent.org.id]);
  await expect.poll(async () => (await list(key))[0]?.markup_bps).toBe(0);
});

test('prices at a storefront name the reseller where it sells in its own name, else nobody', async () => {
  const at = async (host?: string) =>
    (await harness.call('GET', '/v1/pricing', host === undefined ? {} : { headers: { host } })).json();
  expect(await at()).toMatchObject({
    supplier: { legal_name: operator.legal_name },
    markup: { frontier_bps: 7_331 },
  });
  expect(await at(HOST)).toMatchObject({
    ...{ supplier: null, markup: null, gst: { rate_bps: 1_800, supplier_state: null } },
  });
  await rows(
    `insert into reseller_invoicing (org_id, legal_name, address, state_code, gstin, sac, series, enabled, updated_at)
     values ($1, 'Glasswing Limited', '["2 High Street"]', '27', null, '998315', 'GW', true, now())`,
    [parent.org.id],
  );
  expect(await at(HOST)).toMatchObject({
    supplier: { legal_name: 'Glasswing Limited', state: 'Maharashtra', gstin: false },
    ...{ markup: null, gst: { rate_bps: 0, supplier_state: 'Maharashtra' } },
  });
});

test('the documents of the API are under the name and the address of the storefront', async () => {
  for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/errors', '/nothing', '/']) {
    const reply = await harness.call('GET', path, { headers: { host: HOST } });
    // Its examples have tiers of a reseller.
    expect([path, named(`${JSON.stringify(reply.headers)}${reply.body}`)]).toEqual([path, []]);
  }
  const document = (await harness.call('GET', '/openapi.json', { headers: { host: HOST } })).json();
  expect(document.info.title).toBe(NAME);
  expect(JSON.stringify(document.servers)).toContain(`https://${HOST}`);
  expect((await harness.call('GET', '/openapi.json')).json().info.title).toBe('LLM gateway');
});

const settings = settingsOf({
  ...{
    storefronts: {
      base: 'shops.platform.example',
      ca: 'x.example',
      own_hosts: ['svc.example'],
      protocol: 'https:',
      port: '',
    },
  },
});
const ours = { console_url: 'https://console.platform.example', product: 'LLM gateway' };
const around = (org_id: string | null, recipient_key: string, data: Record<string, unknown> = {}) =>
  surroundingsOf(harness.pool, { org_id, recipient_key, data }, { settings, ours });

test.each(Object.keys(templates) as TemplateName[])(
  'the mail %s to a customer has the name, the colour and the links of the storefront',
  async (name) => {
    const template = findTemplate(name)!;
    const content = template.content(template.sample, template.secret === true ? '/secret#t' : '');
    const { text, html } = render(content, await around(child.org.id, 'someone@customer.example'));
    expect(found(text + html)).toEqual([]);
    expect(text).toContain(`${NAME} sent you this mail`);
    expect(text).toContain('Help: help@customer.example');
    for (const block of content.blocks) {
      if (block.kind !== 'action' || !block.to.startsWith('/')) continue;
      expect(text).toContain(`https://${HOST}${block.to}`);
      expect(html).toContain('background:#0b6e4f');
    }
  },
);

test('a mail to a person alone is of the storefront that all their organizations know, or that they came by', async () => {
  const key = person.email.toLowerCase();
  expect((await around(null, key)).product).toBe(NAME);
  expect((await around(null, 'nobody@new.example', { seller_id: parent.org.id })).product).toBe(NAME);
  for (const [org_id, email] of [
    [null, 'nobody@new.example'],
    [parent.org.id, 'someone@customer.example'],
    [harness.a.org.id, key],
  ] as const)
    expect(await around(org_id, email)).toBe(ours);
  const both = await harness.makePerson(child, 'viewer');
  await rows(
    `insert into org_member (org_id, user_id, role, source, status, joined_at, updated_at)
     select $2, user_id, role, source, status, joined_at, updated_at from org_member where user_id = $1`,
    [both.id, harness.a.org.id],
  );
  expect(await around(null, both.email.toLowerCase())).toBe(ours);
});

/** Scalar fields of a type, and those of the objects in it down to `depth`; null where there is nothing to ask for. */
function selectionOf(type: GraphQLObjectType, depth: number): string | null {
  const parts = Object.values(type.getFields()).flatMap((field) => {
    if (field.args.some((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined)) return [];
    const inner = getNamedType(field.type);
    if (!isObjectType(inner)) return 'getFields' in inner || 'getTypes' in inner ? [] : [field.name];
    const below = depth === 0 ? null : selectionOf(inner, depth - 1);
    return below === null ? [] : [`${field.name} ${below}`];
  });
  return parts.length === 0 ? null : `{ ${parts.join(' ')} }`;
}

test.each(customers)(
  'nothing that GraphQL tells %s names us, the tier, what is added, or others',
  async (...of) => {
    const [, , session] = of;
    const feed = openRequestFeed({ db: harness.pool, log: silentLog });
    const app = createTenantApp(world.parts(), {
      ...{ feed, streams: new Streams(), pages: null, persisted_only: false },
    });
    await app.ready();
    atFileEnd(async () => {
      feed.close();
      await app.close();
    });
    const root = tenantSchema.getQueryType() as GraphQLObjectType;
    const send = async (query: string) =>
      app.inject({
        ...{ method: 'POST', url: '/graphql', payload: JSON.stringify({ query }) },
        headers: { host: HOST, authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      });
    const answered: string[] = [];
    for (const field of Object.values(root.getFields())) {
      const type = getNamedType(field.type);
      if (!isObjectType(type) || field.args.some((arg) => isNonNullType(arg.type))) continue;
      const selection = selectionOf(type, 1);
      if (selection === null) continue;
      const { body, headers } = await send(`{ ${field.name} ${selection} }`);
      expect([field.name, found(body + JSON.stringify(headers))]).toEqual([field.name, []]);
      if (JSON.parse(body).data?.[field.name] != null) answered.push(field.name);
    }
    expect(answered.length).toBeGreaterThan(15);
    const own = await send(
      '{ storefront { displayName accentLight logoUrl supportEmail } reseller { tiers { id } } }',
    );
    expect(own.json().data).toEqual({
      storefront: {
        displayName: NAME,
        accentLight: '#0b6e4f',
        logoUrl: null,
        supportEmail: shop.support_email,
      },
      reseller: null,
    });
  },
);

test('the page of the console bears the name of the storefront before any script runs', async () => {
  const body = Buffer.from(
    '<html data-frame="inside"><title>svc console</title><link rel="icon" href="/favicon.svg" />' +
      '<script type="application/json" id="boot">{}</script></html>',
  );
  const page = { body, coded: [], type: 'text/html; charset=utf-8', etag: '"x"', immutable: false };
  const feed = openRequestFeed({ db: harness.pool, log: silentLog });
  const app = createTenantApp(world.parts(), {
    ...{ feed, streams: new Streams(), persisted_only: false },
    pages: { files: new Map([['/index.html', page]]), persisted: new Map() },
  });
  await app.ready();
  atFileEnd(async () => {
    feed.close();
    await app.close();
  });
  const at = (host: string, url = '/sign-in') => app.inject({ url, headers: { host } });
  for (const path of [
    '/models',
    '/models/openai/gpt-5-mini',
    '/models/compare',
    '/models/no/such',
    '/rankings',
    '/rankings/apps/x',
  ]) {
    const reply = await at(HOST, path);
    expect([path, found(`${JSON.stringify(reply.headers)}${reply.body}`)]).toEqual([path, []]);
    expect(reply.body).not.toContain('favicon');
    expect(reply.body).toContain(`https://${HOST}`);
  }
  for (const path of ['/', '/sign-in', '/a-child/live/home', '/index.html']) {
    const reply = await at(HOST, path);
    expect([path, found(`${JSON.stringify(reply.headers)}${reply.body}`)]).toEqual([path, []]);
    expect(reply.body).toContain(`<title>${NAME}</title>`);
    expect(reply.body).not.toContain('favicon');
    expect(reply.body).toContain(`"base_url":"https://${HOST}"`);
  }
  expect((await at('console.platform.example')).body).toContain('<title>svc console</title>');
  // The price list is at what who comes there would pay.
  const prices = async (host: string) => (await at(host, '/models')).body.match(/\$[0-9.]+/g);
  const catalog = await prices('console.platform.example');
  expect(await prices(HOST)).toEqual(catalog);
  await ask('PUT', '/v1/reseller/storefront', parent.token, { ...shop, default_tier_id: tier.id });
  const resold = await prices(HOST);
  expect(resold).toHaveLength(catalog?.length as number);
  expect(resold).not.toEqual(catalog);
  await ask('PUT', '/v1/reseller/storefront', parent.token, {
    ...shop,
    display_name: 'A </title><b> & "co"',
  });
  const odd = (await at(HOST)).body;
  expect(odd).toContain('<title>A &lt;/title&gt;&lt;b&gt; &amp; &quot;co&quot;</title>');
  expect(odd).not.toContain('<b>');
});
