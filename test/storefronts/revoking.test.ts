// Certificates of domains that were given up are revoked at a real authority, once, and also when it was away meanwhile.
import { X509Certificate } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { shiftClock } from '@svc/core/kernel/index.ts';
import { recheckStorefronts } from '@svc/core/storefronts/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { issuerOf, openDoor, proved, rowOf, settingsFor, startAuthority } from './authority.ts';
import { startStorefronts } from './world.ts';

const world = await startStorefronts({ SVC_ACME_DIRECTORY_URL: 'https://authority.example/dir' });
const { ask, harness, rows } = world;
const acme = await world.reseller('acme-ai');
const pebble = await startAuthority(world);
await openDoor(world, pebble.http_port);
const DAY_MS = 24 * 3_600_000;
const EACH = { timeout: 60_000 };
let serial = 0;
const fresh = () => `ai.gone${++serial}.example`;

/** The way to the authority, which can be closed while the authority itself forgets nothing. */
class Way {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  port = 0;

  constructor(to: number) {
    this.#server = createServer((socket) => {
      const behind = connect(to, 'localhost');
      for (const one of [socket, behind]) {
        this.#sockets.add(one);
        one.on('error', () => one.destroy()).on('close', () => this.#sockets.delete(one));
      }
      socket.pipe(behind).pipe(socket);
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(this.port, '127.0.0.1', done));
    this.port = (this.#server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

const way = new Way(Number(new URL(pebble.directory_url).port));
await way.open();
atFileEnd(() => way.close());
const settings = settingsFor(pebble, { directory_url: `https://localhost:${way.port}/dir` });
const issuer = issuerOf(world, settings);

afterEach(() => shiftClock(0));

/** A domain with a certificate, and the certificate's number at the authority. */
async function certified(): Promise<{ domain: string; serial: string }> {
  const domain = await proved(world, acme, fresh());
  expect(await issuer.run()).toBe(1);
  const { serialNumber } = new X509Certificate((await rowOf(world, domain))?.chain as string);
  return { domain, serial: serialNumber };
}
const drop = (domain: string) => {
  // Sessions end while the clock is ahead.
  shiftClock(0);
  return ask('DELETE', `/v1/reseller/storefront/domains/${domain}`, acme.token, undefined, 204);
};
const waiting = () =>
  rows<{ domain: string; failures: number; next_at: Date; leased_by: string | null }>(
    'select domain, failures, next_at, leased_by from certificate_revocation order by revocation_no',
  );
const due = () =>
  rows(`update certificate_revocation set next_at = now() - interval '1 hour', leased_until = null`);

describe('revoking', EACH, () => {
  test('a certificate whose domain is given up is revoked, once, and one in use is not', async () => {
    const kept = await certified();
    const gone = await certified();
    expect(await issuer.revoke()).toBe(0);
    await drop(gone.domain);
    expect(await waiting()).toMatchObject([{ domain: gone.domain }]);
    expect(await issuer.revoke()).toBe(1);
    expect(JSON.parse(await pebble.statusOf(gone.serial))).toMatchObject({ Status: 'Revoked', Reason: 5 });
    expect(JSON.parse(await pebble.statusOf(kept.serial))).toMatchObject({ Status: 'Valid' });
    expect([await waiting(), await issuer.revoke()]).toEqual([[], 0]);
    await drop(kept.domain);
    expect(await issuer.revoke()).toBe(1);
  });

  test('so is one whose proof was lost, and a domain that never had one leaves nothing', async () => {
    const lost = await certified();
    world.names.zone.set(`TXT _svc-storefront.${lost.domain}`, []);
    for (const day of [1, 2, 3]) {
      shiftClock(day * (DAY_MS + 60_000));
      await recheckStorefronts(harness.context, world.egress);
    }
    expect(await rowOf(world, lost.domain)).toBeUndefined();
    expect(await waiting()).toMatchObject([{ domain: lost.domain }]);
    shiftClock(0);
    await drop(await proved(world, acme, fresh()));
    expect(await waiting()).toHaveLength(1);
    expect(await issuer.revoke()).toBe(1);
    expect(JSON.parse(await pebble.statusOf(lost.serial))).toMatchObject({ Status: 'Revoked' });
  });

  test('an authority that is away is asked again, after longer pauses, until it answers', async () => {
    const { domain, serial } = await certified();
    await drop(domain);
    await way.close();
    expect(await issuer.revoke()).toBe(0);
    const [first] = await waiting();
    expect(first).toMatchObject({ failures: 1, leased_by: null });
    expect(first?.next_at.getTime()).toBeGreaterThan(Date.now() + 30_000);
    expect(await issuer.revoke()).toBe(0);
    expect(await waiting()).toMatchObject([{ failures: 1 }]);
    await due();
    expect(await issuer.revoke()).toBe(0);
    expect((await waiting())[0]?.next_at.getTime()).toBeGreaterThan(Date.now() + 4 * 60_000);
    await way.open();
    await due();
    expect(await issuer.revoke()).toBe(1);
    expect(JSON.parse(await pebble.statusOf(serial))).toMatchObject({ Status: 'Revoked' });
    expect(await waiting()).toEqual([]);
  });

  test('of two processes at once one asks; what a killed one has left another does, also when it was done already', async () => {
    const { domain, serial } = await certified();
    const [{ chain }] = (await rows('select chain from storefront_certificate where domain = $1', [
      domain,
    ])) as [{ chain: string }];
    await drop(domain);
    const other = issuerOf(world, settings);
    const both = await Promise.all([issuer.revoke(), other.revoke()]);
    expect(both.sort()).toEqual([0, 1]);
    expect(JSON.parse(await pebble.statusOf(serial))).toMatchObject({ Status: 'Revoked' });
    // A process was killed between the authority's answer and its note.
    await rows(
      `insert into certificate_revocation (domain, chain, not_after, next_at, leased_by, leased_until)
       values ($1, $2, now() + interval '1 day', now(), 'killed', now() + interval '1 hour')`,
      [domain, chain],
    );
    expect([await other.revoke(), await waiting()]).toMatchObject([0, [{ leased_by: 'killed' }]]);
    await due();
    expect([await other.revoke(), await waiting()]).toEqual([1, []]);
  });

  test('a certificate that is issued while its domain is given up is revoked, and none is kept', async () => {
    const domain = await proved(world, acme, fresh());
    const run = issuer.run();
    await expect.poll(async () => (await rowOf(world, domain))?.challenge_token ?? null).not.toBeNull();
    await harness.pool.transaction(async (db) => {
      // The authority still finds the answer; the certificate that follows waits for this transaction.
      await db.query({
        name: '',
        text: 'delete from storefront_domain where domain = $1',
        values: [domain],
      });
      const held = `select from pg_stat_activity
                     where datname = current_database() and wait_event_type = 'Lock' and query like '%storefront_certificate%'`;
      await expect.poll(async () => (await rows(held)).length, { timeout: 20_000 }).toBe(1);
    });
    expect(await run).toBe(0);
    expect(await waiting()).toMatchObject([{ domain, failures: 0 }]);
    expect([await issuer.revoke(), await waiting()]).toEqual([1, []]);
  });

  test('one that has lapsed is forgotten, and one that the authority does not know is not asked for again', async () => {
    const lapsed = await certified();
    await drop(lapsed.domain);
    shiftClock(91 * DAY_MS);
    expect([await issuer.revoke(), await waiting()]).toEqual([0, []]);
    shiftClock(0);
    const unknown = await certified();
    await drop(unknown.domain);
    await pebble.restart();
    expect(await issuer.revoke()).toBe(0);
    // It knows neither the account nor the certificate any more.
    expect(await waiting()).toMatchObject([{ failures: 1 }]);
    await due();
    expect([await issuer.revoke(), await waiting()]).toEqual([0, []]);
    expect(issuer.outcomes.get('not_revoked')).toBe(1);
  });
});
