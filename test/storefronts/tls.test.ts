// Storefronts over TLS (docs/operate/storefront-tls.md): real gateways that get certificates from a real authority, show each host
// its own, and take what is asked of them to the right place.
import { writeFileSync } from 'node:fs';
import { createServer, request as plain } from 'node:http';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { authority, server } from '../sim/certificates.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir, startGatewayProcess } from '../support/gateway.ts';
import { proved, rowOf, startAuthority } from './authority.ts';
import { BASE, startStorefronts } from './world.ts';

const world = await startStorefronts({ SVC_ACME_DIRECTORY_URL: 'https://authority.example/dir' });
const acme = await world.reseller('acme-ai');
const pebble = await startAuthority(world, { env: { PEBBLE_WFE_NONCEREJECT: '30' } });
const root = await pebble.root();
const one = await proved(world, acme, 'ai.acme.example');
const two = await proved(world, acme, 'ai.other.example');
const EACH = { timeout: 60_000 };

/** In the place of the console: it says what it was asked. */
const console_app = createServer((asked, response) => {
  let body = '';
  asked.on('data', (piece) => {
    body += piece;
  });
  asked.on('end', () => {
    response.setHeader('connection', 'x-secret, keep-alive');
    response.setHeader('x-secret', 'of this connection');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method: asked.method, url: asked.url, headers: asked.headers, body }));
  });
});
await new Promise<void>((done) => console_app.listen(0, '127.0.0.1', done));
const admin_url = `http://127.0.0.1:${(console_app.address() as { port: number }).port}`;
const data_dir = freshDataDir();
const file = (name: string, text: string) => {
  writeFileSync(join(data_dir, name), text.trim());
  return join(data_dir, name);
};
const start = async (http_port: number) => {
  const tls_port = await freePort();
  const gateway = await startGatewayProcess({
    ...{ database_url: world.harness.url, data_dir, name: `tls-${tls_port}` },
    env: {
      ...{ SVC_STOREFRONT_BASE: BASE, SVC_BASE_URL: 'https://llm.platform.example' },
      ...{
        SVC_TLS_PORT: String(tls_port),
        SVC_TLS_HTTP_PORT: String(http_port),
        SVC_TLS_ADMIN_URL: admin_url,
      },
      ...{ SVC_ACME_DIRECTORY_URL: pebble.directory_url, SVC_ACME_CA_FILE: pebble.ca_file },
      ...{ SVC_TLS_CERT_FILE: file('tls.crt', server.cert), SVC_TLS_KEY_FILE: file('tls.key', server.key) },
    },
  });
  atFileEnd(() => gateway.stop().then(() => undefined));
  return { gateway, tls_port, http_port };
};
const first = await start(pebble.http_port);
const second = await start(await freePort());
afterAll(() => {
  console_app.close();
  console_app.closeAllConnections();
});

type At = { readonly tls_port: number };
/** The certificate that is shown at `servername`, verified by the root; or why there is none. */
const shownAt = ({ tls_port }: At, servername: string | undefined, ca = root) =>
  new Promise<PeerCertificate | string>((done) => {
    const socket = connect(
      { host: '127.0.0.1', port: tls_port, ca, ...(servername === undefined ? {} : { servername }) },
      () => {
        done(socket.getPeerCertificate(true));
        socket.destroy();
      },
    );
    socket.on('error', (error) => done((error as { code?: string }).code ?? error.message));
    socket.on('close', () => done('closed'));
  });

interface Reply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}
const over = ({ tls_port }: At, host: string, path: string, options: object = {}, body?: string) =>
  new Promise<Reply>((done, fail) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port: tls_port,
        servername: host,
        ca: root,
        path,
        agent: false,
        ...options,
        headers: { host, ...(options as { headers?: object }).headers },
      },
      (reply) => {
        let text = '';
        reply.on('data', (piece) => {
          text += piece;
        });
        reply.on('end', () => done({ status: reply.statusCode ?? 0, headers: reply.headers, text }));
      },
    );
    asked.on('error', fail);
    asked.end(body);
  });
const atDoor = (path: string, headers: Record<string, string>, method = 'GET') =>
  new Promise<Reply>((done, fail) => {
    const asked = plain(
      { host: '127.0.0.1', port: first.http_port, path, method, headers, agent: false },
      (reply) => {
        let text = '';
        reply.on('data', (piece) => {
          text += piece;
        });
        reply.on('end', () => done({ status: reply.statusCode ?? 0, headers: reply.headers, text }));
      },
    );
    asked.on('error', fail);
    asked.end();
  });
const chainOf = async (domain: string) => (await rowOf(world, domain))?.chain ?? null;
describe('certificates', EACH, () => {
  test('each host is shown its own certificate by every gateway, with a chain that its root ends', async () => {
    for (const domain of [one, two])
      await expect.poll(() => chainOf(domain), { timeout: 30_000 }).not.toBeNull();
    for (const at of [first, second])
      for (const domain of [one, two]) {
        await expect.poll(async () => typeof (await shownAt(at, domain)), { timeout: 20_000 }).toBe('object');
        const shown = (await shownAt(at, domain)) as PeerCertificate & { issuerCertificate: PeerCertificate };
        expect(shown.subjectaltname).toBe(`DNS:${domain}`);
        expect(shown.issuerCertificate.subject.CN).toMatch(/Pebble/);
      }
  });

  test.each([
    ['nobody.example'],
    [`x.${one}`],
    ['acme.example'],
    ['llm.platform.example'],
    [`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(40)}.example`],
    ['xn--a.example'],
    ["a'; drop table org; --.example"],
    ['../../etc/passwd'],
    [undefined],
  ])('a handshake for %s is shown no certificate', async (name) => {
    expect(await shownAt(first, name)).toMatch(/^(?:ERR_SSL_|ECONNRESET|closed)/);
  });

  test('a host without a certificate of its own is shown that of the file, if that is for it', async () => {
    expect(await shownAt(first, 'localhost', authority)).toMatchObject({
      subjectaltname: expect.stringMatching('localhost'),
    });
    expect(await shownAt(first, 'x.localhost', authority)).toMatch(/^(?:ERR_SSL_|ECONNRESET|closed)/);
  });

  test('a flood of names that nobody has keeps no host from being shown its certificate', async () => {
    const flood = Array.from({ length: 300 }, (_, n) => shownAt(second, `n${n}.nobody.example`));
    expect(await shownAt(second, one)).toMatchObject({ subjectaltname: `DNS:${one}` });
    for (const shown of await Promise.all(flood)) expect(typeof shown).toBe('string');
  });

  test('a renewed certificate is shown without a restart, and one that was taken away by nobody', async () => {
    const before = await shownAt(second, two);
    await world.rows(
      `update storefront_certificate
          set chain = null, private_key = null, issuer = null, not_before = null, not_after = null, next_at = now()
        where domain = $1`,
      [two],
    );
    await expect.poll(() => chainOf(two), { timeout: 20_000 }).not.toBeNull();
    const serial = (shown: PeerCertificate | string) =>
      typeof shown === 'string' ? shown : shown.serialNumber;
    for (const at of [first, second])
      await expect
        .poll(async () => [serial(await shownAt(at, two)), typeof (await shownAt(at, two))], {
          timeout: 25_000,
        })
        .not.toEqual([serial(before), 'object']);
    await world.ask('DELETE', `/v1/reseller/storefront/domains/${two}`, acme.token, undefined, 204);
    for (const at of [first, second])
      await expect.poll(async () => typeof (await shownAt(at, two)), { timeout: 25_000 }).toBe('string');
    expect(await rowOf(world, two)).toBeUndefined();
  });
});

describe('what is asked over TLS', EACH, () => {
  test('paths of the API are the gateway’s, and all others the console’s with the address of the client', async () => {
    const storefront = await over(first, one, `/v1/storefront?host=${one}`);
    expect([storefront.status, JSON.parse(storefront.text).display_name]).toEqual([200, 'acme-ai']);
    expect((await over(first, one, '/v1x')).status).toBe(200);
    const forged = {
      'x-forwarded-for': '198.51.100.9',
      'x-real-ip': '198.51.100.9',
      te: 'trailers',
      connection: 'x-hop',
      'x-hop': '1',
    };
    const { status, headers, text } = await over(
      first,
      one,
      '/sign-in?a=1',
      { method: 'POST', headers: forged },
      'hello',
    );
    const seen = JSON.parse(text);
    expect(status).toBe(200);
    expect(seen).toMatchObject({ method: 'POST', url: '/sign-in?a=1', body: 'hello' });
    expect(seen.headers).toMatchObject({
      host: one,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
    });
    for (const name of ['x-real-ip', 'x-hop', 'te']) expect(seen.headers[name]).toBeUndefined();
    expect(headers['x-secret']).toBeUndefined();
  });

  test('a connection for one host cannot ask for another', async () => {
    for (const path of ['/v1/providers', '/sign-in'])
      expect(
        (await over(first, one, path, { headers: { host: 'acme-ai.shops.platform.example' } })).status,
      ).toBe(421);
    expect((await over(first, one, '/v1/providers', { headers: { host: 'nobody.example' } })).status).toBe(
      421,
    );
  });

  test('a console that is away is said to be, and the API goes on', async () => {
    await new Promise((done) => {
      console_app.close(done);
      console_app.closeAllConnections();
    });
    const away = await over(first, one, '/');
    expect([away.status, away.headers['retry-after']]).toEqual([503, '5']);
    expect((await over(first, one, '/v1/providers')).status).toBe(200);
  });

  test('what is no handshake, and one that does not go on, keep nobody waiting', async () => {
    const idle = Array.from({ length: 50 }, () => connectPlain(first.tls_port, '127.0.0.1'));
    const garbage = connectPlain(first.tls_port, '127.0.0.1');
    garbage.on('error', () => {});
    garbage.write('GET / HTTP/1.1\r\n\r\n');
    expect((await over(first, one, '/v1/providers')).status).toBe(200);
    for (const socket of [...idle, garbage]) socket.destroy();
  });
});

describe('the port without TLS', EACH, () => {
  test('browsers are sent to https, whatever the path, and nowhere else', async () => {
    for (const [path, location] of [
      ['/', `https://${one}/`],
      ['/a?b=c', `https://${one}/a?b=c`],
      ['//evil.example/x', `https://${one}//evil.example/x`],
      ['http://evil.example/x', `https://${one}/`],
      [
        '/.well-known/acme-challenge/../../etc/passwd',
        `https://${one}/.well-known/acme-challenge/../../etc/passwd`,
      ],
    ] as const) {
      const reply = await atDoor(path, { host: one });
      expect([path, reply.status, reply.headers['location']]).toEqual([path, 308, location]);
    }
    expect((await atDoor('/', { host: 'llm.platform.example:80' })).headers['location']).toBe(
      'https://llm.platform.example/',
    );
  });

  test.each([
    ['a host that nobody is served at', '/', { host: 'nobody.example' }, 'GET', 421],
    ['a network address', '/', { host: '10.0.0.1' }, 'GET', 421],
    ['a name inside a cluster', '/', { host: 'svc-gateway' }, 'GET', 421],
    [
      'what came by a proxy that ended TLS, which would loop',
      '/',
      { host: one, 'x-forwarded-proto': 'https' },
      'GET',
      421,
    ],
    ['a key that was sent in the clear', '/v1/chat/completions', { host: one }, 'POST', 403],
    [
      'a token that nobody was given',
      `/.well-known/acme-challenge/${'a'.repeat(43)}`,
      { host: one },
      'GET',
      404,
    ],
    [
      'the same of a host that nobody has',
      '/.well-known/acme-challenge/abc',
      { host: 'nobody.example' },
      'GET',
      404,
    ],
  ])('%s is refused', async (_, path, headers, method, status) => {
    const reply = await atDoor(path, headers, method);
    expect([reply.status, reply.headers['location']]).toEqual([status, undefined]);
  });

  test('a probe is answered under every name', async () => {
    expect((await atDoor('/healthz', { host: '10.0.0.1' })).status).toBe(200);
  });
});
