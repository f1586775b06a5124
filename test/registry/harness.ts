// The management surface as the gateway serves it, on a database of its own, with two organizations to keep apart.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRequestLog, type RequestLog } from '@svc/core/analytics/index.ts';
import { committedCatalog, openCatalog } from '@svc/core/catalog/index.ts';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { createPerson, signInSettings } from '@svc/core/identity/index.ts';
import { builtIn, createProviderKeys } from '@svc/core/inference/index.ts';
import {
  type Context,
  type Environment,
  type Id,
  type Log,
  newRequestId,
  type Role,
  readConfig,
  type Scope,
  type Services,
  scopes,
} from '@svc/core/kernel/index.ts';
import { createKey, type KeyRing, openKeyRing } from '@svc/core/keys/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { createOrg, findOrg, findProject, type Org, type Project } from '@svc/core/orgs/index.ts';
import { type Changes, openChanges } from '@svc/core/runtime/index.ts';
import { bindRest } from '@svc/gateway/rest/bind.ts';
import { bindHostRule, createApp } from '@svc/http/index.ts';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';

export interface Tenant {
  readonly org: Org;
  readonly live: Project;
  readonly test: Project;
  /** A live key with every scope. */
  readonly key: string;
  readonly key_id: Id<'key'>;
  /** A test key with every scope. */
  readonly test_key: string;
}

export interface Harness {
  readonly url: string;
  readonly pool: Pool;
  readonly keys: KeyRing;
  readonly changes: Changes;
  readonly app: FastifyInstance;
  readonly request_log: RequestLog;
  readonly catalog: Services['catalog'];
  readonly root_key: Buffer;
  readonly a: Tenant;
  readonly b: Tenant;
  /** Defects logged so far; a test that expects none asserts that it is empty. */
  readonly defects: unknown[];
  readonly context: Context;
  makeTenant(slug: string): Promise<Tenant>;
  /** A new person, a member of `tenant` with `role`. */
  makePerson(tenant: Tenant, role: Role): Promise<Person>;
  /** A bearer session of `person`, signed in over the wire. */
  signIn(person: Pick<Person, 'email' | 'password'>): Promise<string>;
  makeKey(tenant: Tenant, wanted?: KeyOptions): Promise<{ id: Id<'key'>; secret: string }>;
  call(method: Method, url: string, options?: CallOptions): Promise<LightMyRequestResponse>;
}

export interface Person {
  readonly id: Id<'user'>;
  readonly email: string;
  readonly password: string;
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'OPTIONS';
export interface KeyOptions {
  readonly scopes?: readonly Scope[];
  readonly environment?: Environment;
  readonly expires_at?: Date;
  /** The person whose key it is; absent: a service key. */
  readonly created_by?: Id<'user'>;
}
export interface CallOptions {
  /** What goes into `Authorization: Bearer`: an API key or a session token. */
  readonly key?: string;
  /** Address of the socket; 127.0.0.1 unless given. */
  readonly ip?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string | string[]>;
}

function defectLog(defects: unknown[]): Log {
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error(fields, message) {
      defects.push({ ...fields, message });
    },
    child: () => log,
  };
  return log;
}

export interface HarnessOptions {
  /** The database; a new one unless given. */
  readonly url?: string;
  /** Files of the catalog; the committed one unless given. */
  readonly catalog?: readonly string[];
  /** Services that the gateway has besides. */
  readonly services?: Partial<Services>;
}

/** `reply` whole; of events, which do not end, the headers alone: its reader has left. */
async function answered(reply: LightMyRequestResponse): Promise<LightMyRequestResponse> {
  const stream = reply.stream();
  const pieces: Buffer[] = [];
  if (String(reply.headers['content-type']).startsWith('text/event-stream')) stream.destroy();
  else for await (const piece of stream) pieces.push(piece as Buffer);
  const rawPayload = Buffer.concat(pieces);
  const body = rawPayload.toString();
  return Object.assign(reply, { rawPayload, payload: body, body, json: () => JSON.parse(body) });
}

/** Starts everything once per test file; ended after the file. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const url = options.url ?? (await createTestDatabase());
  const defects: unknown[] = [];
  const log = defectLog(defects);
  const pool = createPool(url, { max: 6 });
  const changes = await openChanges({ db: pool, url, log });
  const root_key = Buffer.alloc(32, 7);
  const keys = openKeyRing({ changes, log, root_key });
  const catalog = await openCatalog({
    formats: builtIn.catalog,
    db: pool,
    files: options.catalog ?? [committedCatalog],
    log,
    poll_ms: 0,
  });
  const spool_dir = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  const request_log = await openRequestLog({ db: pool, log, spool_dir });
  const app = createApp({ log, base_url: 'http://127.0.0.1:8080', formats: builtIn });
  const { services: more = {} } = options;
  bindHostRule(app, more);
  bindRest(app, {
    pool,
    services: {
      key_ring: keys,
      catalog: () => catalog.current(),
      ...{ request_log, root_key, provider_keys: createProviderKeys(builtIn.kinds) },
      sign_in: signInSettings(readConfig({}), 'http://127.0.0.1:8080'),
      ...more,
    },
    log,
    base_url: 'http://127.0.0.1:8080',
  });
  await app.ready();
  atFileEnd(async () => {
    await app.close();
    await request_log.close();
    await keys.close();
    await changes.close();
    catalog.close();
    await pool.end();
    rmSync(spool_dir, { recursive: true, force: true });
  });

  const context = createContext({
    request_id: newRequestId(),
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
    pool,
    log,
    services: {} as Services,
  });
  const newKey = async (org: Org, project: Project, wanted: KeyOptions) => {
    const made = await context.transaction((context) =>
      createKey(context, org, project, {
        name: 'a key',
        scopes: wanted.scopes ?? scopes,
        environment: wanted.environment ?? 'live',
        expires_at: wanted.expires_at ?? null,
        created_by: wanted.created_by ?? null,
      }),
    );
    return { id: made.key.id, secret: made.secret };
  };
  const makeTenant = async (slug: string): Promise<Tenant> => {
    const made = await createOrg(context, { slug, name: slug, billing_country: 'US', plan_id: 'enterprise' });
    const org = (await findOrg(pool, made.id)) as Org;
    const live = (await findProject(pool, { org_id: org.id, id: made.project_id })) as Project;
    const test = (await findProject(pool, { org_id: org.id, id: made.test_project_id })) as Project;
    const key = await newKey(org, live, {});
    const test_key = await newKey(org, test, { environment: 'test' });
    return { org, live, test, key: key.secret, key_id: key.id, test_key: test_key.secret };
  };
  const call: Harness['call'] = async (method, path, options = {}) => {
    const headers = { ...options.headers };
    if (options.key !== undefined) headers['authorization'] = `Bearer ${options.key}`;
    const body = options.body;
    if (body !== undefined) headers['content-type'] ??= 'application/json';
    return answered(
      await app.inject({
        ...{ method, url: path, headers, payloadAsStream: true },
        ...(options.ip === undefined ? {} : { remoteAddress: options.ip }),
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    );
  };
  let people = 0;
  return {
    url,
    pool,
    keys,
    changes,
    app,
    request_log,
    catalog: () => catalog.current(),
    root_key,
    defects,
    context,
    a: await makeTenant('acme'),
    b: await makeTenant('borealis'),
    makeTenant,
    makeKey: (tenant, wanted = {}) => newKey(tenant.org, tenant.live, wanted),
    async makePerson(tenant, role) {
      const email = `${role}${++people}@${tenant.org.slug}.example`;
      const made = await createPerson(context, { email, org_id: tenant.org.id, role });
      return { id: made.id, email, password: made.password as string };
    },
    async signIn({ email, password }) {
      const answer = await call('POST', '/v1/auth/login', { body: { email, password, transport: 'bearer' } });
      return (answer.json() as { token: string }).token;
    },
    call,
  };
}

/** Code of an error answer. */
export function codeOf(response: LightMyRequestResponse): string {
  return (response.json() as { error: { code: string } }).error.code;
}
