// The same operations on three surfaces: REST and mercurius as the gateway serves them, yoga as the console's and the
// staff listeners do, on one database with two organizations.

import type { Decoder } from '@svc/admin-graphql/decoder.ts';
import type { Pages } from '@svc/admin-graphql/pages.ts';
import { createStaffApp } from '@svc/admin-graphql/staff.ts';
import { Streams } from '@svc/admin-graphql/streams.ts';
import { createTenantApp } from '@svc/admin-graphql/tenant.ts';
import { openRequestFeed } from '@svc/core/analytics/index.ts';
import { type CatalogHandle, committedCatalog, openCatalog } from '@svc/core/catalog/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { FiguresMemory, figureServices } from '@svc/core/figures/index.ts';
import { createStaff, signInSettings } from '@svc/core/identity/index.ts';
import { builtIn, createProviderKeys } from '@svc/core/inference/index.ts';
import { type Log, readConfig, type StaffRole, silentLog } from '@svc/core/kernel/index.ts';
import { bindGraphql } from '@svc/gateway/graphql.ts';
import { bindRest } from '@svc/gateway/rest/bind.ts';
import { createApp, type HttpParts, type ManagementRate } from '@svc/http/index.ts';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { type Harness, startHarness } from '../registry/harness.ts';
import { atFileEnd } from '../support/ends.ts';

import { tappedPool } from '../support/watched-pool.ts';

import { LOCAL } from '../webhooks/world.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of documents that tests write
  readonly data: any;
  readonly errors: readonly { message: string; path?: unknown; extensions: Record<string, unknown> }[];
  readonly extensions: Record<string, unknown>;
}

export interface World {
  readonly harness: Harness;
  /** REST and `/v1/graphql`. */
  readonly gateway: FastifyInstance;
  readonly tenant: FastifyInstance;
  readonly staff: FastifyInstance;
  /** Names of the statements since it was last emptied. */
  readonly statements: string[];
  readonly defects: unknown[];
  ask(at: FastifyInstance, token: string, query: string, variables?: object, more?: object): Promise<Answer>;
  signInStaff(roles: readonly StaffRole[]): Promise<string>;
  /** The catalog of the listeners, which is loaded again by hand alone. */
  readonly catalog: CatalogHandle;
}

/** The answer of a request as GraphQL says it. */
export function answerOf(response: LightMyRequestResponse): Answer {
  const body = response.json() as Partial<Answer>;
  return {
    status: response.statusCode,
    type: String(response.headers['content-type']),
    data: body.data ?? null,
    errors: body.errors ?? [],
    extensions: body.extensions ?? {},
  };
}

/** Starts everything once per test file. */
export async function startWorld(
  options: {
    persisted_only?: boolean;
    pages?: Pages;
    timeout_ms?: number;
    rate?: ManagementRate;
    /** A catalog file in addition to the committed one. */
    providers_file?: string;
    /** Has the staff listener decode payloads of workflows. */
    decoder?: Decoder;
  } = {},
): Promise<World> {
  const harness = await startHarness();
  const statements: string[] = [];
  const defects: unknown[] = [];
  const log: Log = { ...silentLog, error: (fields, message) => void defects.push({ ...fields, message }) };
  const catalog = await openCatalog({
    formats: builtIn.catalog,
    db: harness.pool,
    files: [committedCatalog, ...(options.providers_file === undefined ? [] : [options.providers_file])],
    log,
    poll_ms: 0,
  });
  const base_url = 'http://127.0.0.1:8080';
  const parts: HttpParts = {
    pool: tappedPool(harness.pool, ({ name }) => void statements.push(name)),
    services: {
      key_ring: harness.keys,
      catalog: () => catalog.current(),
      request_log: harness.request_log,
      root_key: harness.root_key,
      sign_in: signInSettings(readConfig({}), base_url),
      provider_keys: createProviderKeys(builtIn.kinds),
      egress: openEgress(readConfig(LOCAL)),
      ...figureServices(new FiguresMemory()),
      ...(options.rate === undefined ? {} : { limits: options.rate.limits }),
    },
    log,
    base_url,
    ...(options.rate === undefined ? {} : { rate: options.rate }),
  };
  const gateway = createApp({ log, base_url });
  bindRest(gateway, parts);
  bindGraphql(gateway, parts, options.timeout_ms);
  const feed = openRequestFeed({ db: harness.pool, log });
  const streams = new Streams();
  const pages = options.pages ?? null;
  const tenant = createTenantApp(parts, {
    ...{ feed, streams, pages },
    persisted_only: options.persisted_only ?? false,
    ...(options.timeout_ms === undefined ? {} : { timeout_ms: options.timeout_ms }),
  });
  const staff = createStaffApp(parts, { introspection: true, pages: null, decoder: options.decoder ?? null });
  for (const app of [gateway, tenant, staff]) await app.ready();
  atFileEnd(async () => {
    streams.close();
    feed.close();
    for (const app of [gateway, tenant, staff]) await app.close();
    catalog.close();
  });
  let members = 0;
  return {
    ...{ harness, gateway, tenant, staff, statements, defects, catalog },
    async ask(at, token, query, variables = {}, more = {}) {
      const response = await at.inject({
        method: 'POST',
        url: at === gateway ? '/v1/graphql' : '/graphql',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        payload: JSON.stringify({ query, variables, ...more }),
      });
      return answerOf(response);
    },
    async signInStaff(roles) {
      const email = `staff${++members}@svc.example`;
      return (await createStaff(harness.context, harness.root_key, { email, roles })).token;
    },
  };
}
