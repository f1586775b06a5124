// Certificates after the settings name another authority: each is revoked where it was issued, and renewed at the new one.
import { X509Certificate } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { issuerOf, openDoor, proved, rowOf, settingsFor, startAuthority } from './authority.ts';
import { startStorefronts } from './world.ts';

vi.setConfig({ testTimeout: 60_000 });
const world = await startStorefronts();
const { ask, rows } = world;
const acme = await world.reseller('moving');
const former = await startAuthority(world);
await openDoor(world, former.http_port);
const present = await startAuthority(world, { http_port: former.http_port });
const before = issuerOf(world, settingsFor(former));
const after = issuerOf(world, settingsFor(present));
let serial = 0;

/** A domain with a certificate of the former authority, and its number there. */
async function certified(): Promise<{ domain: string; serial: string }> {
  const domain = await proved(world, acme, `ai.moved${++serial}.example`);
  expect(await before.run()).toBe(1);
  return { domain, serial: await serialOf(domain) };
}
const serialOf = async (domain: string) =>
  new X509Certificate((await rowOf(world, domain))?.chain as string).serialNumber;
const drop = (domain: string) =>
  ask('DELETE', `/v1/reseller/storefront/domains/${domain}`, acme.token, undefined, 204);
const waiting = () => rows('select domain, failures, directory_url from certificate_revocation');
const accounts = async () =>
  (await rows<{ directory_url: string }>('select directory_url from acme_account order by created_at')).map(
    ({ directory_url }) => directory_url,
  );

test('what waits to be revoked goes to the authority that issued it, and the new one is not asked', async () => {
  const gone = await certified();
  await drop(gone.domain);
  expect(await waiting()).toMatchObject([{ directory_url: former.directory_url, failures: 0 }]);
  expect(await after.revoke()).toBe(1);
  expect(JSON.parse(await former.statusOf(gone.serial))).toMatchObject({ Status: 'Revoked', Reason: 5 });
  expect([await waiting(), await accounts()]).toEqual([[], [former.directory_url]]);
});

test('an authority that wants a pause gets it, and the other one is asked meanwhile', async () => {
  const old = await certified();
  await drop(old.domain);
  const pause = (url: string, until: string | null) =>
    rows('update acme_account set paused_until = $2 where directory_url = $1', [url, until]);
  await pause(former.directory_url, '2099-01-01');
  expect([await after.revoke(), (await waiting()).length]).toEqual([0, 1]);
  await pause(former.directory_url, null);
  await pause(present.directory_url, '2099-01-01');
  expect([await after.revoke(), await waiting()]).toEqual([1, []]);
  await pause(present.directory_url, null);
});

test('a certificate of the former authority is renewed at the new one, and an order that was begun there begins anew', async () => {
  const { domain, serial: first } = await certified();
  await rows(
    `update storefront_certificate
        set next_at = now(), order_key = '\\x00', order_url = $2, order_directory_url = $3 where domain = $1`,
    [domain, former.directory_url.replace('/dir', '/my-order/left'), former.directory_url],
  );
  expect(await after.run()).toBe(1);
  expect(await rowOf(world, domain)).toMatchObject({
    ...{ failures: 0, fault: null, order_url: null, directory_url: present.directory_url },
  });
  const second = await serialOf(domain);
  expect(second).not.toBe(first);
  expect(JSON.parse(await present.statusOf(second))).toMatchObject({ Status: 'Valid' });
});

test('of a certificate from before the authority was remembered, that of the settings is asked', async () => {
  const { domain, serial: number } = await certified();
  await rows('update storefront_certificate set directory_url = null where domain = $1', [domain]);
  await drop(domain);
  expect(await before.revoke()).toBe(1);
  expect(JSON.parse(await former.statusOf(number))).toMatchObject({ Status: 'Revoked' });
});

test('certificates of both are revoked in one turn, and one authority that is away stops none of the other', async () => {
  const old = await certified();
  const fresh = await proved(world, acme, `ai.moved${++serial}.example`);
  expect(await after.run()).toBe(1);
  const number = await serialOf(fresh);
  await Promise.all([drop(old.domain), drop(fresh)]);
  await former.kill();
  expect(await after.revoke()).toBe(1);
  expect(JSON.parse(await present.statusOf(number))).toMatchObject({ Status: 'Revoked' });
  expect(await waiting()).toMatchObject([
    { domain: old.domain, failures: 1, directory_url: former.directory_url },
  ]);
  // It begins anew and has forgotten the account: it is asked again as a new one, and its word is the end.
  await former.restart();
  const due = () => rows(`update certificate_revocation set next_at = now() - interval '1 hour'`);
  await due();
  expect([await after.revoke(), (await waiting()).length]).toEqual([0, 1]);
  await due();
  expect([await after.revoke(), await waiting()]).toEqual([0, []]);
});
