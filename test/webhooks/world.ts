// A database, an organization with an owner, and the parts that bring facts to its endpoints.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import {
  type Context,
  type Id,
  type MemberCaller,
  newId,
  newRequestId,
  now,
  type Operation,
  readConfig,
  type Services,
  shiftClock,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { writeEvent } from '@svc/core/ledger/index.ts';
import { createContext, operations, relayParts } from '@svc/core/operations/index.ts';
import { createOrg } from '@svc/core/orgs/index.ts';
import {
  createDeliverer,
  type Deliverer,
  type DeliveryView,
  relayOutbox,
  type WebhookView,
} from '@svc/core/webhooks/index.ts';
import { expect } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';

export type Made = WebhookView & { readonly secret: string };
export interface Tenant {
  readonly org_id: Id<'org'>;
  readonly owner: { readonly id: Id<'user'>; readonly email: string };
  /** Runs an operation of the registry as the owner. */
  run<T>(name: string, input?: Record<string, unknown>): Promise<T>;
  /** An endpoint of all events at `url`. */
  hook(url: string, events?: readonly string[]): Promise<Made>;
  /** Its deliveries, oldest first. */
  log(webhook_id: string): Promise<DeliveryView[]>;
  /** Writes a fact, as a concept does in its transaction. */
  tell(topic: string, payload: Record<string, unknown>): Promise<void>;
}

export interface World {
  readonly url: string;
  readonly pool: Pool;
  /** Mails that were asked for, oldest first. */
  mails(): Promise<{ template: string; recipient: string; data: Record<string, unknown> }[]>;
  readonly deliverer: Deliverer;
  /** A new organization, or one that there is. */
  tenant(slug: string, existing?: Id<'org'>): Promise<Tenant>;
  relay(): Promise<number>;
  /** Relays and delivers until nothing is due. */
  drain(): Promise<void>;
  /** How long attempts wait for an answer from now on; ten seconds without an argument. */
  patience(ms?: number): void;
  /** Waits until no attempt is under way. */
  idle(): Promise<void>;
  /** Moves the clock of the installation by `ms` from where it is. */
  pass(ms: number): void;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
}

/** The operation `name` of the registry. @throws Error when there is none. */
export function operationOf(name: string): Operation {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

/** Settings under which receivers on this machine may be called. */
export const LOCAL = { SVC_ALLOW_INSECURE_WEBHOOKS: '1', SVC_EGRESS_ALLOW: '127.0.0.0/8' } as const;

const PATIENCE_MS = 10_000;

/** Starts everything; it ends after the file. */
export async function startWorld(
  options: { env?: Record<string, string>; url?: string } = {},
): Promise<World> {
  const url = options.url ?? (await createTestDatabase());
  const pool = createPool(url, { max: 12, role: 'svc_runtime' });
  const egress = openEgress(readConfig(options.env ?? LOCAL));
  const root_key = Buffer.alloc(32, 7);
  let total_ms = PATIENCE_MS;
  const deliverer = createDeliverer({
    ...{ store: pool, egress, root_key, log: silentLog, mayTake: () => false },
    get total_ms() {
      return total_ms;
    },
  });
  let shift_ms = 0;
  atFileEnd(async () => {
    shiftClock(0);
    await deliverer.stop();
    await pool.end();
  });
  const services = { root_key, egress } as unknown as Services;
  const contextOf = (caller: Context['caller']) =>
    createContext({ request_id: newRequestId(), caller, pool, log: silentLog, services });
  const staff = contextOf({ kind: 'staff', name: 'test', staff_id: null, roles: ['super'] });
  const relay = () => relayOutbox(pool, relayParts(silentLog));

  async function tenant(slug: string, existing?: Id<'org'>): Promise<Tenant> {
    const make = () => createOrg(staff, { slug, name: slug, billing_country: 'US' });
    const org_id = existing ?? (await make()).id;
    const email = `${slug}@example.com`;
    const { id } = await createPerson(staff, { email, org_id, role: 'owner' });
    // Facts of the beginning reach no endpoint that is made later.
    await relay();
    const caller: MemberCaller = {
      kind: 'session',
      session_id: newId('session'),
      token_hash: new Uint8Array(32),
      user_id: id,
      ...{ email, org_id, role: 'owner', environment: 'live', two_factor: false, proved_at: now() },
    };
    const run: Tenant['run'] = async (name, input = {}) =>
      (await operationOf(name).run(contextOf(caller), input as never)) as never;
    return {
      org_id,
      owner: { id, email },
      run,
      hook: (url, events = ['*']) => run<Made>('webhooks.create', { url, events }),
      async log(id) {
        const { data } = await run<{ data: DeliveryView[] }>('webhooks.deliveries', { id, limit: 200 });
        return data.reverse();
      },
      tell: (topic, payload) =>
        pool.transaction((db) => writeEvent(db, { org_id, topic, payload, at: now() })),
    };
  }

  const idle = () => expect.poll(() => deliverer.in_flight, { timeout: 20_000 }).toBe(0);
  return {
    url,
    pool,
    idle,
    patience(ms = PATIENCE_MS) {
      total_ms = ms;
    },
    mails: async () =>
      (
        await pool.query<{ template: string; recipient: string; data: Record<string, unknown> }>({
          name: '',
          text: 'select template, recipient, data from mail order by id',
        })
      ).rows,
    deliverer,
    tenant,
    relay,
    async drain() {
      await relay();
      while ((await deliverer.pump()) > 0) await idle();
    },
    pass(ms) {
      shift_ms += ms;
      shiftClock(shift_ms);
    },
    rows: async <T>(text: string, values: unknown[] = []) =>
      (await pool.query<T>({ name: '', text, values })).rows,
  };
}
