// Certificates of domains from a real authority (docs/operate/storefront-tls.md): issued, renewed, and what happens when something
// on the way fails.
import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { openColumn, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { issuerOf, openDoor, proved, rowOf, settingsFor, startAuthority } from './authority.ts';
import { startStorefronts } from './world.ts';

const world = await startStorefronts({ SVC_ACME_DIRECTORY_URL: 'https://authority.example/dir' });
const { ask, harness, rows } = world;
const acme = await world.reseller('acme-ai');
const pebble = await startAuthority(world);
const closeDoor = await openDoor(world, pebble.http_port);
const settings = settingsFor(pebble);
const issuer = issuerOf(world, settings);
const DAY_MS = 24 * 3_600_000;
const domains = '/v1/reseller/storefront/domains';
let serial = 0;
const fresh = () => `ai.tls${++serial}.example`;
const EACH = { timeout: 60_000 };

afterEach(() => shiftClock(0));

interface Seen {
  readonly domain: string;
  readonly certificate: Record<string, unknown> | null;
}
const shown = async (domain: string) =>
  (await ask<{ data: Seen[] }>('GET', domains, acme.token)).data.find((one) => one.domain === domain)
    ?.certificate;
const drop = (domain: string) => {
  // Sessions end while the clock is ahead.
  shiftClock(0);
  return ask('DELETE', `${domains}/${domain}`, acme.token, undefined, 204);
};
const due = (domain: string) =>
  rows(
    `update storefront_certificate set next_at = now() - interval '1 day', leased_until = null where domain = $1`,
    [domain],
  );

/** The key in use, opened, is that of the certificate. */
async function keyFits(domain: string): Promise<boolean> {
  const row = await rowOf(world, domain);
  if (row?.chain == null || row.private_key === null) return false;
  const pem = openColumn(harness.root_key, 'storefront_certificate.private_key', [domain], row.private_key);
  const ours = createPublicKey(createPrivateKey(pem)).export({ format: 'der', type: 'spki' });
  return new X509Certificate(row.chain).publicKey.export({ format: 'der', type: 'spki' }).equals(ours);
}

describe('issuing', EACH, () => {
  test('a proved domain gets a certificate with its key sealed, and one that was not proved none', async () => {
    const domain = await proved(world, acme, fresh());
    const claimed = (await world.claim(acme, fresh())).domain;
    expect(await shown(domain)).toMatchObject({ state: 'waiting', valid_until: null });
    expect(await issuer.run()).toBe(1);
    const row = await rowOf(world, domain);
    expect(row).toMatchObject({ order_url: null, order_key: null, challenge_token: null, fault: null });
    const leaf = new X509Certificate(row?.chain as string);
    expect(leaf.subjectAltName).toBe(`DNS:${domain}`);
    expect(await keyFits(domain)).toBe(true);
    expect(await shown(domain)).toMatchObject({ state: 'valid', valid_until: row?.not_after?.toISOString() });
    expect(row?.issuer).toMatch(/Pebble/);
    expect([await rowOf(world, claimed), await shown(claimed)]).toEqual([undefined, null]);
    expect(await issuer.run()).toBe(0);
    for (const one of [domain, claimed]) await drop(one);
    expect(await rowOf(world, domain)).toBeUndefined();
  });

  test('the authority’s word on when to renew is asked for, and obeyed', async () => {
    const domain = await proved(world, acme, fresh());
    await issuer.run();
    const before = await rowOf(world, domain);
    // Pebble wants a renewal a good while before the end; it is looked at again within a day.
    expect((before?.next_at.getTime() ?? 0) - Date.now()).toBeLessThan(DAY_MS + 1_000);
    await due(domain);
    expect(await issuer.run()).toBe(0);
    expect((await rowOf(world, domain))?.chain).toBe(before?.chain);
    shiftClock(75 * DAY_MS);
    await due(domain);
    expect(await issuer.run()).toBe(1);
    const after = await rowOf(world, domain);
    expect(after?.chain).not.toBe(before?.chain);
    expect(await keyFits(domain)).toBe(true);
    await drop(domain);
  });

  test('of two processes at once one makes an order', async () => {
    const domain = await proved(world, acme, fresh());
    const [one, two] = await Promise.all([issuer.run(), issuerOf(world, settings).run()]);
    expect(one + two).toBe(1);
    expect(await keyFits(domain)).toBe(true);
    await drop(domain);
  });
});

describe('failing', EACH, () => {
  test('a domain that leads elsewhere says so, waits longer each time, and is made whole by a look', async () => {
    const domain = await proved(world, acme, fresh());
    world.names.zone.set(`A ${domain}`, []);
    expect(await issuer.run()).toBe(0);
    const failed = await rowOf(world, domain);
    expect(failed).toMatchObject({ fault: 'unreachable', failures: 1, order_url: null, order_key: null });
    expect(await shown(domain)).toMatchObject({ state: 'failing', fault: 'unreachable', who: 'you' });
    expect(await issuer.run()).toBe(0);
    expect((await rowOf(world, domain))?.failures).toBe(1);
    await due(domain);
    await issuer.run();
    const second = await rowOf(world, domain);
    expect(second?.failures).toBe(2);
    expect((second?.next_at.getTime() ?? 0) - Date.now()).toBeGreaterThan(4 * 60_000);
    world.names.zone.set(`A ${domain}`, ['127.0.0.1']);
    shiftClock(16 * 60_000);
    await world.verify(acme, domain);
    expect(await issuer.run()).toBe(1);
    expect(await shown(domain)).toMatchObject({ state: 'valid', fault: null });
    await drop(domain);
  });

  test('a server of somebody else that answers is named', async () => {
    const domain = await proved(world, acme, fresh());
    await closeDoor();
    const { createServer } = await import('node:http');
    const other = createServer((_, response) => void response.end('hello'));
    await new Promise<void>((done) => other.listen(pebble.http_port, '127.0.0.1', done));
    await issuer.run();
    expect(await rowOf(world, domain)).toMatchObject({ fault: 'wrong_answer', failures: 1 });
    await new Promise((done) => other.close(done));
    await due(domain);
    await issuer.run();
    expect(await rowOf(world, domain)).toMatchObject({ fault: 'unreachable', failures: 2 });
    await openDoor(world, pebble.http_port);
    await drop(domain);
  });

  test('an authority that is away, or has forgotten us, is asked again and the old certificate serves on', async () => {
    const domain = await proved(world, acme, fresh());
    await issuer.run();
    const before = (await rowOf(world, domain))?.chain;
    shiftClock(80 * DAY_MS);
    await due(domain);
    await pebble.kill();
    expect(await issuer.run()).toBe(0);
    expect(await rowOf(world, domain)).toMatchObject({ fault: 'authority_away', chain: before });
    await pebble.restart();
    await due(domain);
    // It knows neither account nor certificate any more.
    await issuer.run();
    expect(await rowOf(world, domain)).toMatchObject({ fault: 'account_refused', chain: before });
    await due(domain);
    expect(await issuer.run()).toBe(1);
    expect((await rowOf(world, domain))?.chain).not.toBe(before);
    await drop(domain);
  });

  test('a domain that is given up while it is worked on leaves nothing', async () => {
    const domain = await proved(world, acme, fresh());
    const slow = issuer.run();
    await expect.poll(async () => (await rowOf(world, domain))?.order_key ?? null).not.toBeNull();
    await drop(domain);
    expect(await slow).toBe(0);
    expect(await rowOf(world, domain)).toBeUndefined();
  });

  test('a domain that was just given up waits an hour, so that nobody uses up the limits of all', async () => {
    const domain = await proved(world, acme, fresh());
    await issuer.run();
    await drop(domain);
    await proved(world, acme, domain);
    expect(await issuer.run()).toBe(0);
    expect(await shown(domain)).toMatchObject({ state: 'waiting' });
    shiftClock(61 * 60_000);
    expect(await issuer.run()).toBe(1);
    await drop(domain);
  });
});

describe('other authorities', EACH, () => {
  test('twenty domains at once, at an authority that refuses half of all nonces, each have their own', async () => {
    const shop = await world.reseller('twenty');
    const picky = await startAuthority(world, { env: { PEBBLE_WFE_NONCEREJECT: '50' } });
    await openDoor(world, picky.http_port);
    const wanted = await Promise.all(Array.from({ length: 20 }, () => proved(world, shop, fresh())));
    const many = issuerOf(world, settingsFor(picky));
    expect((await many.run()) + (await many.run())).toBe(20);
    for (const domain of wanted) expect([domain, await keyFits(domain)]).toEqual([domain, true]);
    const keys = await rows(
      `select distinct private_key from storefront_certificate where domain = any($1)`,
      [wanted],
    );
    expect(keys).toHaveLength(20);
  });

  test('what a killed process has begun is gone on with, with the key that it had', async () => {
    const slow = await startAuthority(world, { env: { PEBBLE_VA_NOSLEEP: '', PEBBLE_VA_SLEEPTIME: '2' } });
    await openDoor(world, slow.http_port);
    const domain = await proved(world, acme, fresh());
    const key = (harness.root_key as Buffer).toString('hex');
    const entry = new URL('issuer-process.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [entry, harness.url, slow.directory_url, slow.ca_file, key], {
      stdio: 'inherit',
    });
    const gone = new Promise((done) => child.once('exit', done));
    await expect
      .poll(async () => (await rowOf(world, domain))?.challenge_token ?? null, { timeout: 20_000 })
      .not.toBeNull();
    child.kill('SIGKILL');
    await gone;
    const left = await rowOf(world, domain);
    const heir = issuerOf(world, settingsFor(slow));
    // As long as its lease lasts nobody else begins.
    expect(await heir.run()).toBe(0);
    await due(domain);
    expect(await heir.run()).toBe(1);
    expect(await keyFits(domain)).toBe(true);
    const leaf = new X509Certificate((await rowOf(world, domain))?.chain as string);
    const pem = openColumn(
      harness.root_key,
      'storefront_certificate.order_key',
      [domain],
      left?.order_key as Buffer,
    );
    expect(leaf.checkPrivateKey(createPrivateKey(pem))).toBe(true);
    await drop(domain);
  });

  test('an account is bound to one that the authority knows, and is refused without', async () => {
    const mac = Buffer.alloc(32, 5);
    const bound = await startAuthority(world, {
      http_port: pebble.http_port,
      config: {
        externalAccountBindingRequired: true,
        externalAccountMACKeys: { 'kid-1': mac.toString('base64url') },
      },
    });
    const domain = await proved(world, acme, fresh());
    await issuerOf(world, settingsFor(bound)).run();
    expect(await rowOf(world, domain)).toMatchObject({ fault: 'account_refused' });
    await due(domain);
    expect(await issuerOf(world, settingsFor(bound, { eab: { kid: 'kid-1', key: mac } })).run()).toBe(1);
    await drop(domain);
  });
});
