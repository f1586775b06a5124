// The storefront of a reseller (docs/resellers/storefront.md): what is set, the logo, and what everybody sees of it.
import { createServer, type RequestListener } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { BASE, startStorefronts } from './world.ts';

const world = await startStorefronts();
const { ask, refused, harness } = world;
const acme = await world.reseller('acme-ai');
const STOREFRONT = '/v1/reseller/storefront';

/** The smallest images: a header, as far as it is looked at. */
const png = (width = 40, height = 20) => {
  const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(20)]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const jpeg = Buffer.from('ffd8ffe000044a46ffc0000b080014002801011100ffd9', 'hex');
const webp = Buffer.concat([
  Buffer.from('RIFF\0\0\0\0WEBPVP8X', 'latin1'),
  Buffer.from([10, 0, 0, 0, 0, 0, 0, 0, 39, 0, 0, 19, 0, 0]),
]);
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

let serve: RequestListener = (_, response) => response.end();
let fetched = 0;
const host = createServer((request, response) => {
  fetched++;
  serve(request, response);
});
await new Promise<void>((done) => host.listen(0, '127.0.0.1', done));
afterAll(() => host.close());
const LOGO = `http://127.0.0.1:${(host.address() as { port: number }).port}/logo`;
/** Serves `body` under whatever header. */
const image = (body: Buffer, type = 'image/png', status = 200) => {
  serve = (_, response) => response.writeHead(status, { 'content-type': type, location: '/other' }).end(body);
};
const put = <T = Shop>(more: object) =>
  ask<T>('PUT', STOREFRONT, acme.token, { display_name: 'Acme AI', ...more });
interface Shop {
  readonly logo_url: string | null;
  readonly logo_address: string | null;
  readonly default_tier_id: string | null;
}

test('a reseller that has set nothing has its name and defaults, and is shown to nobody', async () => {
  const fresh = await world.reseller('fresh');
  expect(await ask('GET', STOREFRONT, fresh.token)).toEqual({
    ...{ reseller_id: fresh.org.id, display_name: 'fresh', logo_url: null, logo_address: null },
    ...{ primary_color: '#2b50d4', accent_light: '#2b50d4', accent_dark: '#6b93fc', support_email: null },
    ...{ support_url: null, terms_url: null, registration: 'invite', display_currency: 'USD', locale: 'en' },
    ...{ address: `https://fresh.${BASE}`, default_tier_id: null, updated_at: null },
  });
  expect(await refused('GET', `/v1/storefront?host=fresh.${BASE}`, undefined)).toEqual([404, 'not_found']);
});

test('what is set is shown at the address of the reseller and at its proved domains, and nothing else of it', async () => {
  const tier = await ask<{ id: string }>(
    'POST',
    '/v1/reseller/tiers',
    acme.token,
    { name: 'One', markup_bps: 1 },
    201,
  );
  const said = {
    ...{
      primary_color: '#0B6E4F',
      support_email: 'help@acme.example',
      support_url: 'https://acme.example/help',
    },
    ...{ terms_url: 'https://acme.example/terms', registration: 'open', display_currency: 'EUR' },
  };
  const own = await put({ ...said, locale: 'de-de', default_tier_id: tier.id });
  expect(own).toMatchObject({ ...said, primary_color: '#0b6e4f', locale: 'de-DE', default_tier_id: tier.id });
  const shown = {
    ...{ display_name: 'Acme AI', logo_url: null, ...said, primary_color: '#0b6e4f', locale: 'de-DE' },
    ...{ accent_light: '#0b6e4f', accent_dark: '#51a583' },
  };
  for (const asked of [`host=acme-ai.${BASE}`, `host=ACME-ai.${BASE}:8443`, `domain=acme-ai.${BASE}.`]) {
    const reply = await harness.call('GET', `/v1/storefront?${asked}`);
    expect([reply.statusCode, reply.json()]).toEqual([200, shown]);
    expect(reply.headers['cache-control']).toBe('public, max-age=60');
  }
  const claim = await world.claim(acme, 'ai.acme.example');
  expect(await refused('GET', '/v1/storefront?host=ai.acme.example', undefined)).toEqual([404, 'not_found']);
  world.publish(claim);
  await world.verify(acme, 'ai.acme.example');
  expect(await ask('GET', '/v1/storefront?host=ai.acme.example', undefined)).toEqual(shown);
  for (const none of [
    'nobody.example',
    `x.acme-ai.${BASE}`,
    BASE,
    `borealis.${BASE}`,
    'llm.platform.example',
  ])
    expect(await refused('GET', `/v1/storefront?host=${none}`, undefined)).toEqual([404, 'not_found']);
  expect(await refused('GET', '/v1/storefront', undefined)).toEqual([400, 'invalid_request']);
  await world.rows(`update org set status = 'closed', closed_at = now() where id = $1`, [acme.org.id]);
  expect(await refused('GET', '/v1/storefront?host=ai.acme.example', undefined)).toEqual([404, 'not_found']);
  await world.rows(`update org set status = 'active', closed_at = null where id = $1`, [acme.org.id]);
});

test('a PUT replaces the whole, in the audit log as well, and the default tier is the one of tiers', async () => {
  const [tier] = (await ask<{ data: { id: string }[] }>('GET', '/v1/reseller/tiers', acme.token)).data;
  await put({ default_tier_id: tier?.id, support_email: 'a@acme.example' });
  const listed = () => ask<{ data: { is_default: boolean }[] }>('GET', '/v1/reseller/tiers', acme.token);
  expect((await listed()).data[0]?.is_default).toBe(true);
  expect(await put({})).toMatchObject({ support_email: null, default_tier_id: null, registration: 'invite' });
  expect((await listed()).data[0]?.is_default).toBe(false);
  const [entry] = await world.rows<{ before: object; after: object }>(
    `select before, after from audit_entry where org_id = $1 and action = 'reseller.storefront.put'
      order by at desc, id desc limit 1`,
    [acme.org.id],
  );
  expect(entry).toMatchObject({ before: { default_tier_id: tier?.id }, after: { default_tier_id: null } });
});

test.each([
  ['display_name', ''],
  ['primary_color', 'red'],
  ['primary_color', '#fff'],
  ['support_email', 'nobody'],
  ['support_url', 'http://acme.example'],
  ['terms_url', 'javascript:alert(1)'],
  ['terms_url', 'https://user:pass@acme.example'],
  ['registration', 'closed'],
  ['display_currency', 'NOK'],
  ['locale', 'not a locale'],
  ['default_tier_id', 'tier_01KACZ3V8S6T5R4Q3P2N1M0K9J'],
  ['unknown', 1],
])('%s %s is refused by name', async (name, value) => {
  const body = { display_name: 'Acme AI', [name]: value };
  const reply = await harness.call('PUT', STOREFRONT, { key: acme.token, body });
  expect([reply.statusCode, codeOf(reply), reply.json().error.param]).toEqual([400, 'invalid_request', name]);
});

test("another reseller's tier is none of one's own", async () => {
  const other = await world.reseller('other');
  const { id } = await ask<{ id: string }>(
    'POST',
    '/v1/reseller/tiers',
    other.token,
    { name: 'x', markup_bps: 1 },
    201,
  );
  const body = { display_name: 'Acme AI', default_tier_id: id };
  expect(await refused('PUT', STOREFRONT, acme.token, body)).toEqual([400, 'invalid_request']);
});

test('a logo is taken for what its bytes are, served from here, and fetched once', async () => {
  for (const [body, type] of [
    [png(), 'image/png'],
    [jpeg, 'image/jpeg'],
    [webp, 'image/webp'],
  ] as const) {
    image(body, 'text/html');
    const { logo_address, logo_url } = await put({ logo_url: `${LOGO}?${type}` });
    expect(logo_url).toBe(`${LOGO}?${type}`);
    const { pathname, origin } = new URL(logo_address as string);
    expect(origin).toBe(`https://acme-ai.${BASE}`);
    const reply = await harness.call('GET', pathname);
    expect([reply.statusCode, reply.headers['content-type'], reply.rawPayload]).toEqual([200, type, body]);
    expect(reply.headers).toMatchObject({
      ...{ 'cache-control': 'public, max-age=31536000', 'x-content-type-options': 'nosniff' },
      'content-disposition': expect.stringMatching(/^inline/),
    });
    const again = await harness.call('GET', pathname, {
      headers: { 'if-none-match': String(reply.headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    const before = fetched;
    await put({ logo_url, support_email: 'a@acme.example' });
    expect(fetched).toBe(before);
  }
  expect((await put({})).logo_address).toBeNull();
});

test.each([
  ['an SVG under the name of a PNG', () => image(svg), 'invalid_media'],
  ['HTML', () => image(Buffer.from('<!doctype html><script>1</script>')), 'invalid_media'],
  ['a GIF', () => image(Buffer.from('GIF89a0000000000000000000000')), 'invalid_media'],
  ['an image of a gigapixel', () => image(png(40_000, 25_000)), 'invalid_media'],
  ['a JPEG without a frame', () => image(jpeg.subarray(0, 10)), 'invalid_media'],
  ['nothing', () => image(Buffer.alloc(0)), 'invalid_media'],
  ['too much', () => image(Buffer.concat([png(), Buffer.alloc(524_288)])), 'media_fetch_failed'],
  ['a redirect', () => image(png(), 'image/png', 302), 'media_fetch_failed'],
  ['an error', () => image(png(), 'image/png', 404), 'media_fetch_failed'],
  [
    'an answer that breaks off',
    () => {
      serve = (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write(png());
        setImmediate(() => response.destroy());
      };
    },
    'media_fetch_failed',
  ],
])('no logo is %s, and the storefront stays as it was', async (_name, set, code) => {
  const before = await put({ support_email: 'stays@acme.example' });
  set();
  const body = { display_name: 'Changed', logo_url: `${LOGO}?bad` };
  const reply = await harness.call('PUT', STOREFRONT, { key: acme.token, body });
  expect([reply.statusCode, codeOf(reply), reply.json().error.param]).toEqual([400, code, 'logo_url']);
  expect(await ask('GET', STOREFRONT, acme.token)).toEqual(before);
});

test('no address inside a network is called for a logo', async () => {
  for (const logo_url of [
    'https://10.0.0.1/logo',
    'https://[::1]/logo',
    'file:///etc/passwd',
    'https://a:b@acme.example/',
  ])
    expect(await refused('PUT', STOREFRONT, acme.token, { display_name: 'Acme', logo_url })).toEqual([
      ...[400, 'unsafe_url'],
    ]);
});

test('a logo that nobody has is not there', async () => {
  for (const name of ['0'.repeat(64), 'x', '..%2f..'])
    expect(await refused('GET', `/v1/storefront/logos/${name}`, undefined)).toEqual([404, 'not_found']);
});
