// Resellers and the public API of an installation with storefronts, over a resolver that answers as the test says.
import { openEgress } from '@svc/core/egress/index.ts';
import { FiguresMemory, figureServices } from '@svc/core/figures/index.ts';
import { type SellerHosts, signInSettings } from '@svc/core/identity/index.ts';
import { builtIn, createProviderKeys } from '@svc/core/inference/index.ts';
import { readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { HostMemory, storefrontSettings } from '@svc/core/storefronts/index.ts';
import type { HttpParts } from '@svc/http/index.ts';
import { expect } from 'vitest';
import { startWorld, type World } from '../organizations/world.ts';
import { codeOf, type HarnessOptions, type Method, type Tenant } from '../registry/harness.ts';
import { type NameServer, startNameServer } from '../sim/dns.ts';

export const BASE = 'shops.platform.example';
/** Address of the base, to which domains have to lead. */
export const BASE_ADDRESS = '93.184.216.34';

export interface Reseller extends Tenant {
  /** A session of its owner. */
  readonly token: string;
}

export interface Claim {
  readonly domain: string;
  readonly record: string;
  readonly token: string;
  readonly target: string | null;
  readonly verified_at: string | null;
}

export interface Check {
  readonly name: string;
  readonly expected: string;
  readonly observed: readonly string[];
  readonly ok: boolean;
  readonly fault: string | null;
  readonly who: string | null;
  readonly fix: string | null;
}

export interface StorefrontWorld {
  readonly harness: World;
  readonly names: NameServer;
  readonly egress: ReturnType<typeof openEgress>;
  reseller(slug: string): Promise<Reseller>;
  /** A request; its answer is `status`. */
  ask<T>(method: Method, path: string, key: string | undefined, body?: object, status?: number): Promise<T>;
  /** A request that is refused: its status and code. */
  refused(method: Method, path: string, key: string | undefined, body?: object): Promise<[number, string]>;
  claim(reseller: Reseller, domain: string): Promise<Claim>;
  verify(reseller: Reseller, domain: string): Promise<Claim & { checks: Check[] }>;
  /** Publishes what the claim asks for. */
  publish(claim: Claim): void;
  /** What listeners of this installation have. */
  parts(): HttpParts;
  /** Makes the process forget whose storefront is where, as it does after some seconds. */
  forget(): void;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
}

/** Starts everything on a database of its own. */
export async function startStorefronts(
  env: Record<string, string> = {},
  options: Pick<HarnessOptions, 'catalog'> = {},
): Promise<StorefrontWorld> {
  const names = await startNameServer();
  names.zone.set(`A ${BASE}`, [BASE_ADDRESS]);
  const config = readConfig({
    SVC_STOREFRONT_BASE: BASE,
    SVC_DNS_SERVERS: names.address,
    SVC_ALLOW_INSECURE_WEBHOOKS: '1',
    SVC_EGRESS_ALLOW: '127.0.0.1',
    ...env,
  });
  // The wait for a server that says nothing is what the test waits for.
  const egress = openEgress(config, { record_ms: 120 });
  const storefronts = storefrontSettings(config, {
    base_url: 'https://llm.platform.example',
    console_origins: ['https://console.platform.example'],
  });
  // It asks the database of the harness, which comes later.
  const hosts: { memory?: HostMemory } = {};
  const seller_hosts: SellerHosts = {
    peek: (host) => hosts.memory?.peek(host),
    at: async (host) => (hosts.memory as HostMemory).at(host),
    nameOf: async (org_id) => (hosts.memory as HostMemory).nameOf(org_id),
  };
  const sign_in = signInSettings(
    readConfig({ SVC_CONSOLE_ORIGINS: 'https://console.platform.example', ...env }),
    'https://llm.platform.example',
  );
  const world = await startWorld({ ...options, services: { egress, storefronts, seller_hosts, sign_in } });
  const harness = world;
  const forget = () => {
    hosts.memory = new HostMemory(harness.pool, BASE);
  };
  forget();
  const send = (method: Method, path: string, key: string | undefined, body?: object) =>
    harness.call(method, path, {
      ...(key === undefined ? {} : { key }),
      ...(body === undefined ? {} : { body }),
    });
  const ask: StorefrontWorld['ask'] = async (method, path, key, body, status = 200) => {
    const reply = await send(method, path, key, body);
    expect([reply.statusCode, reply.body], reply.body).toEqual([status, reply.body]);
    return (reply.body === '' ? null : reply.json()) as never;
  };
  const domains = '/v1/reseller/storefront/domains';
  return {
    ...{ harness, names, egress, ask, forget },
    parts: () => ({
      ...{ pool: harness.pool, log: silentLog, base_url: 'https://llm.platform.example' },
      services: {
        ...{ egress, storefronts, seller_hosts, sign_in, root_key: harness.root_key },
        ...{ key_ring: harness.keys, request_log: harness.request_log, catalog: harness.catalog },
        ...{ provider_keys: createProviderKeys(builtIn.kinds), ...figureServices(new FiguresMemory()) },
      },
    }),
    async refused(method, path, key, body) {
      const reply = await send(method, path, key, body);
      return [reply.statusCode, codeOf(reply)];
    },
    async reseller(slug) {
      const tenant = await harness.makeTenant(slug);
      const set = { id: tenant.org.id, kind: 'reseller', reason: 'a contract' } as const;
      await setOrgKindOperation.run(harness.context, set);
      return { ...tenant, token: await harness.signIn(await harness.makePerson(tenant, 'owner')) };
    },
    claim: ({ token }, domain) => ask('POST', domains, token, { domain }, 201),
    verify: ({ token }, domain) => ask('POST', `${domains}/${domain}/verify`, token, {}),
    publish({ record, token, domain, target }) {
      names.zone.set(`TXT ${record}`, [token]);
      names.zone.set(`CNAME ${domain}`, [target as string]);
    },
    rows: async <T>(text: string, values: unknown[] = []) =>
      (await harness.pool.query<T>({ name: '', text, values })).rows,
  };
}
