// An installation whose storefront domains get certificates from a real authority, which asks the name server of the test and comes
// to a door of this process.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { silentLog } from '@svc/core/kernel/index.ts';
import { type AcmeSettings, CertificateIssuer } from '@svc/core/storefronts/index.ts';
import { createDoor } from '@svc/gateway/tls/door.ts';
import { atFileEnd } from '../support/ends.ts';
import { type Pebble, startPebble } from './pebble.ts';
import type { Reseller, StorefrontWorld } from './world.ts';

export interface CertificateRowSeen {
  readonly chain: string | null;
  readonly private_key: Buffer | null;
  readonly issuer: string | null;
  readonly not_after: Date | null;
  readonly order_url: string | null;
  readonly order_key: Buffer | null;
  readonly challenge_token: string | null;
  readonly next_at: Date;
  readonly failures: number;
  readonly fault: string | null;
  readonly fault_detail: string | null;
}

/** A door on a port that an authority can be told; `at` is asked for the domain that the host names. */
export async function openDoor(world: StorefrontWorld, port: number): Promise<() => Promise<void>> {
  const { storefronts, seller_hosts } = world.parts().services;
  const door = createDoor({
    ...{ db: world.harness.pool, log: silentLog, https_port: '' },
    storefronts: storefronts as NonNullable<typeof storefronts>,
    seller_hosts: seller_hosts as NonNullable<typeof seller_hosts>,
  });
  await new Promise<void>((done) => door.listen(port, '127.0.0.1', done));
  return () =>
    new Promise((done) => {
      door.close(() => done());
      door.closeAllConnections();
    });
}

/** A domain that `reseller` has proved and that leads to this process. */
export async function proved(world: StorefrontWorld, reseller: Reseller, domain: string): Promise<string> {
  const { names, claim, publish, verify } = world;
  const made = await claim(reseller, domain);
  publish(made);
  const { verified_at } = await verify(reseller, domain);
  if (verified_at === null) throw new Error(`${domain} was not proved`);
  names.zone.delete(`CNAME ${domain}`);
  names.zone.set(`A ${domain}`, ['127.0.0.1']);
  return domain;
}

export async function startAuthority(
  world: StorefrontWorld,
  options: {
    readonly env?: Record<string, string>;
    readonly config?: object;
    readonly http_port?: number;
  } = {},
): Promise<Pebble & { readonly http_port: number }> {
  const http_port = options.http_port ?? (await freePort());
  const pebble = await startPebble({ ...options, http_port, dns: world.names.address });
  atFileEnd(() => pebble.stop());
  return { ...pebble, http_port };
}

export function settingsFor(pebble: Pebble, more: Partial<AcmeSettings> = {}): AcmeSettings {
  return {
    directory_url: pebble.directory_url,
    email: 'ops@platform.example',
    ca: [pebble.ca],
    eab: null,
    ...more,
  };
}

/** What one process has that works on certificates. */
export function issuerOf(world: StorefrontWorld, settings: AcmeSettings): CertificateIssuer {
  const { pool: db, root_key } = world.harness;
  const issuer = new CertificateIssuer({ db, root_key, settings, log: silentLog });
  atFileEnd(() => issuer.close());
  return issuer;
}

export async function rowOf(world: StorefrontWorld, domain: string): Promise<CertificateRowSeen | undefined> {
  const found = await world.rows<CertificateRowSeen>(
    `select * from storefront_certificate where domain = $1`,
    [domain],
  );
  return found[0];
}
