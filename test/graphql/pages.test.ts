// The console as the admin listener serves it, and its documents as the only ones that sessions may send.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { readPages } from '@svc/admin-graphql/pages.ts';
import { sha256Hex } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from './world.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-console-'));
atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
const document = '{ viewer { email } }';
const hash = sha256Hex(Buffer.from(document));
const write = 'mutation { refillSandbox(input: {}) { __typename } }';
const write_hash = sha256Hex(Buffer.from(write));
mkdirSync(join(dir, 'assets'));
writeFileSync(
  join(dir, 'index.html'),
  '<!doctype html><html data-frame="inside"><title>console</title></html>',
);
writeFileSync(join(dir, 'assets/main-1.js'), 'export {};');
writeFileSync(join(dir, 'assets/main-1.js.br'), brotliCompressSync('export {};'));
writeFileSync(join(dir, 'assets/main-1.js.gz'), gzipSync('export {};'));
writeFileSync(join(dir, 'operations.json'), JSON.stringify({ [hash]: document, [write_hash]: write }));
writeFileSync(join(dir, 'secret.key'), 'not for anyone');

const pages = readPages(dir);
if (pages === null) throw new Error('no pages');
const world = await startWorld({ persisted_only: true, pages });
const { tenant, gateway, harness } = world;
const session = await harness.signIn(await harness.makePerson(harness.a, 'owner'));

test('files have their type and may be kept, addresses of the application get its page under the policy', async () => {
  const script = await tenant.inject('/assets/main-1.js');
  expect([script.statusCode, script.body, script.headers['cache-control']]).toEqual([
    200,
    'export {};',
    'public, max-age=31536000, immutable',
  ]);
  for (const url of ['/', '/acme/live/home?project=x']) {
    const page = await tenant.inject(url);
    expect([url, page.statusCode, page.headers['content-type']]).toEqual([
      url,
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    expect(page.headers['content-security-policy']).toContain("connect-src 'self' http://127.0.0.1:8080");
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    const again = await tenant.inject({ url, headers: { 'if-none-match': String(page.headers['etag']) } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  }
});

test('a file is sent in the smallest form that the build made and the browser accepts', async () => {
  const read = async (accepted: string) => {
    const answer = await tenant.inject({
      url: '/assets/main-1.js',
      headers: { 'accept-encoding': accepted },
    });
    expect([answer.statusCode, answer.headers['vary']]).toEqual([200, 'accept-encoding']);
    return [answer.headers['content-encoding'], answer.rawPayload] as const;
  };
  const [small, small_body] = await read('gzip, deflate, br;q=0.9');
  expect([small, brotliDecompressSync(small_body).toString()]).toEqual(['br', 'export {};']);
  const [plain, plain_body] = await read('gzip, br;q=0');
  expect([plain, gunzipSync(plain_body).toString()]).toEqual(['gzip', 'export {};']);
  const [none, none_body] = await read('identity');
  expect([none, none_body.toString()]).toEqual([undefined, 'export {};']);
  for (const url of ['/assets/main-1.js.br', '/assets/main-1.js.gz']) {
    expect((await tenant.inject(url)).statusCode).toBe(404);
  }
});

test('the outline that is shown first is that of the page to come', async () => {
  expect((await tenant.inject('/acme/live/home')).body).toContain('data-frame="inside"');
  expect((await tenant.inject('/sign-in?next=%2F')).body).toContain('data-frame="outside"');
});

test('nothing beside the built files can be read, and the API answers as an API', async () => {
  for (const url of [
    '/operations.json',
    '/secret.key',
    '/assets/../secret.key',
    '/assets/%2e%2e/secret.key',
    '/..%2f..%2fetc/passwd.txt',
    '/assets/none.js',
    '/v1/keys',
    '/v1/nothing',
  ]) {
    const response = await tenant.inject(url);
    expect([url, response.statusCode]).toEqual([url, 404]);
    expect(response.body).not.toContain('not for anyone');
  }
});

test('a session runs the documents of the console by their hash, by POST and GET, and no other', async () => {
  const post = (body: object) =>
    tenant.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
  const extensions = { persistedQuery: { version: 1, sha256Hash: hash } };
  const known = await post({ extensions });
  expect([known.statusCode, known.json().data.viewer.email]).toEqual([200, 'owner1@acme.example']);
  const got = await tenant.inject({
    url: `/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`,
    headers: { authorization: `Bearer ${session}` },
  });
  expect([got.statusCode, got.json().data.viewer.email]).toEqual([200, 'owner1@acme.example']);
  // A write by an address would be a write by any page that can make a browser open one.
  const by_address = { persistedQuery: { version: 1, sha256Hash: write_hash } };
  const written = await tenant.inject({
    url: `/graphql?extensions=${encodeURIComponent(JSON.stringify(by_address))}`,
    headers: { authorization: `Bearer ${session}` },
  });
  expect([written.statusCode, written.headers['allow']]).toEqual([405, 'POST']);
  const refused: [object, string][] = [
    [{ query: document }, 'CANNOT_SEND_PQ_ID_AND_BODY'],
    [{ query: '{ org { id } }', extensions }, 'CANNOT_SEND_PQ_ID_AND_BODY'],
    [
      { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } },
      'PERSISTED_QUERY_NOT_IN_LIST',
    ],
    [{}, 'PERSISTED_QUERY_ID_REQUIRED'],
  ];
  for (const [body, code] of refused) {
    const answer = await post(body);
    expect([answer.statusCode, answer.json().errors[0].extensions.code]).toEqual([400, code]);
    expect(answer.json().data ?? null).toBeNull();
  }
});

test('a key sends any document all the same', async () => {
  const answer = await world.ask(gateway, harness.a.key, '{ viewer { kind } }');
  expect(answer.data).toEqual({ viewer: { kind: 'KEY' } });
});

test('a list of documents that is not of this build stops the start', () => {
  writeFileSync(join(dir, 'operations.json'), JSON.stringify({ [hash]: '{ other }' }));
  expect(() => readPages(dir)).toThrow(/not the hash/);
});
