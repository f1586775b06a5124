// Guarded outgoing requests: which addresses may be called, also when name servers give false answers.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Egress, type EgressRequest, openEgress } from '@svc/core/egress/index.ts';
import { readConfig } from '@svc/core/kernel/index.ts';
import { describe, expect, test } from 'vitest';
import { startNameServer } from '../sim/dns.ts';
import { startReceiver } from './receiver.ts';
import { cert, key } from './self-signed.ts';

const names = await startNameServer();
const receiver = await startReceiver();
const port = new URL(receiver.url).port;
const open = (env: Record<string, string>) =>
  openEgress(readConfig({ SVC_DNS_SERVERS: names.address, ...env }));
const insecure = open({ SVC_ALLOW_INSECURE_WEBHOOKS: '1' });
const strict = open({});
const local = open({ SVC_ALLOW_INSECURE_WEBHOOKS: '1', SVC_EGRESS_ALLOW: '127.0.0.1' });

function call(egress: Egress, url: string, more: Partial<EgressRequest> = {}) {
  return egress.exchange({
    ...{ url, method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    ...{ connect_ms: 1_000, total_ms: 3_000, body_bytes_max: 1_024 },
    ...more,
  });
}

describe('the form of an address', () => {
  test.each([
    'not a url',
    '/relative',
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user@hooks.example.com/',
    'https://:word@hooks.example.com/',
    'https://hooks.example.com:8444/',
    'https://hooks.example.com:22/',
    'https://hooks.example.com:80/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://①②⑦.0.0.1/',
    'https://10.1.2.3/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://172.31.255.255/',
    'https://192.168.0.1/',
    'https://192.0.2.1/',
    'https://198.19.0.1/',
    'https://203.0.113.9/',
    'https://0.0.0.0/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[64:ff9b:1::1]/',
    'https://[2002:7f00:1::]/',
    'https://[100::1]/',
    'https://[2001:db8::1]/',
    'https://[2001:0:a00:1::f5ff:fffe]/',
    'https://[2001:20::1]/',
    'https://[3fff::1]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[5f00::1]/',
    'https://[4000::1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://any.localhost/',
  ])('%s is refused', async (url) => {
    expect(await strict.refusalOf(url)).toBeTypeOf('string');
  });

  test.each([
    'https://93.184.216.34/hook',
    'https://93.184.216.34:8443/hook?a=1',
    'https://[2606:2800:220:1::1]/',
    'https://[::ffff:93.184.216.34]/',
    'https://not-yet-there.example/hook',
  ])('%s is fine', async (url) => {
    expect(await strict.refusalOf(url)).toBeNull();
  });

  test('http and ports from 1024 on are for development, private addresses for those that a setting names', async () => {
    expect(await insecure.refusalOf('http://93.184.216.34:3000/')).toBeNull();
    expect(await insecure.refusalOf('https://93.184.216.34:1023/')).toBeTypeOf('string');
    expect(await insecure.refusalOf(receiver.url)).toBeTypeOf('string');
    expect(await local.refusalOf(receiver.url)).toBeNull();
    expect(await local.refusalOf(receiver.url.replace('127.0.0.1', '127.0.0.2'))).toBeTypeOf('string');
    expect(await local.refusalOf(receiver.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'))).toBeNull();
  });
});

describe('names', () => {
  test('one that resolves to an address that is not public is refused at registration', async () => {
    names.zone.set('A inside.example', ['10.0.0.7']);
    names.zone.set('AAAA inside6.example', ['fd00::7']);
    names.zone.set('A both.example', ['93.184.216.34', '192.168.1.1']);
    names.zone.set('AAAA mapped.example', ['::ffff:7f00:1']);
    for (const name of ['inside', 'inside6', 'both', 'mapped', 'INSIDE']) {
      expect([name, await strict.refusalOf(`https://${name}.example/`)]).toEqual([
        name,
        'leads to an address that is not public',
      ]);
    }
  });

  test('one that changes its mind after registration leads nowhere', async () => {
    let lookups = 0;
    names.zone.set('A rebind.example', () => (lookups++ === 0 ? ['93.184.216.34'] : ['127.0.0.1']));
    expect(await insecure.refusalOf(`http://rebind.example:${port}/`)).toBeNull();
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await call(insecure, `http://rebind.example:${port}/`)).toEqual({ fault: 'blocked_address' });
    }
    expect(receiver.received).toEqual([]);
  });

  test('one with a public and a private address leads nowhere, whichever comes first', async () => {
    names.zone.set('A mixed.example', ['93.184.216.34', '127.0.0.1']);
    names.zone.set('A mixed2.example', ['127.0.0.1', '93.184.216.34']);
    names.zone.set('A split.example', ['93.184.216.34']);
    names.zone.set('AAAA split.example', ['::1']);
    for (const name of ['mixed', 'mixed2', 'split']) {
      expect(await call(insecure, `http://${name}.example:${port}/`)).toEqual({ fault: 'blocked_address' });
    }
    expect(receiver.received).toEqual([]);
  });

  test('the address that was checked is the one that is called', async () => {
    names.zone.set('A pinned.example', ['127.0.0.1']);
    names.asked.length = 0;
    const answer = await call(local, `http://pinned.example:${port}/pinned`);
    expect(answer).toMatchObject({ fault: null, status: 204 });
    expect(names.asked.filter((question) => question === 'A pinned.example')).toHaveLength(1);
    expect(receiver.received.at(-1)).toMatchObject({
      path: '/pinned',
      headers: { host: `pinned.example:${port}` },
    });
  });

  test('a literal private address is refused when it is called, too', async () => {
    const before = receiver.received.length;
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'localhost', 'a.localhost']) {
      expect([host, await call(insecure, `http://${host}:${port}/`)]).toEqual([
        host,
        { fault: 'blocked_address' },
      ]);
    }
    expect(receiver.received).toHaveLength(before);
  });

  test('one that does not exist is a DNS fault, one whose server is silent a timeout or a DNS fault', async () => {
    expect(await call(insecure, 'http://nowhere.example:3000/')).toEqual({ fault: 'dns' });
    names.zone.set('A silent.example', null);
    names.zone.set('AAAA silent.example', null);
    const began = performance.now();
    const answer = await call(insecure, 'http://silent.example:3000/', { connect_ms: 500 });
    expect(['timeout', 'dns']).toContain(answer.fault);
    // Without a limit of its own a resolver waits twenty seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
  });
});

describe('exchanges', () => {
  test('a redirect is an answer, and nothing follows it', async () => {
    const before = receiver.received.length;
    receiver.answer((response) => void response.writeHead(307, { location: '/elsewhere' }).end());
    expect(await call(local, receiver.url)).toMatchObject({ fault: null, status: 307 });
    expect(receiver.received).toHaveLength(before + 1);
  });

  test('no more of a body is read than is asked for', async () => {
    receiver.answer((response) => void response.end('x'.repeat(5_000)));
    const cut = await call(local, receiver.url);
    expect(cut).toMatchObject({ fault: null, status: 200, complete: false });
    expect(cut.fault === null && cut.body.length).toBe(1_024);
    expect(await call(local, receiver.url, { body_bytes_max: 5_000 })).toMatchObject({ complete: true });
  });

  test('a closed port, a connection cut and what is not HTTP are refused', async () => {
    receiver.answer((response) => response.socket?.destroy());
    expect(await call(local, receiver.url)).toEqual({ fault: 'refused' });
    receiver.answer((response) => response.socket?.end('220 mail.example ESMTP\r\n'));
    expect(await call(local, receiver.url)).toEqual({ fault: 'refused' });
    await receiver.down();
    expect(await call(local, receiver.url)).toEqual({ fault: 'refused' });
    await receiver.up();
  });

  test('a certificate that nobody vouches for is a TLS fault, and nothing is sent', async () => {
    let requests = 0;
    const server = createServer({ key, cert }, (_request, response) => {
      requests++;
      response.end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port: tls_port } = server.address() as AddressInfo;
    expect(await call(local, `https://127.0.0.1:${tls_port}/`)).toEqual({ fault: 'tls' });
    // Not TLS at all.
    expect(await call(local, `https://127.0.0.1:${port}/`)).toEqual({ fault: 'tls' });
    expect(requests).toBe(0);
    await new Promise((done) => server.close(done));
  });
});
