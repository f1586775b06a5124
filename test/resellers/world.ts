// A reseller with people in it and customers, over the management API and the real ledger.
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { expect } from 'vitest';
import { type World as CreditWorld, startWorld } from '../credits/world.ts';
import { codeOf, type Method, type Person, type Tenant } from '../registry/harness.ts';

/** A customer as its reseller sees it. */
export interface ChildView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly status: string;
  readonly tier_id: string | null;
  readonly available_micro_usd: number;
  readonly usage_30d_micro: number;
}

export interface Reseller extends Tenant {
  readonly owner: Person;
  /** A session of its owner. */
  readonly token: string;
}

export interface ResellerWorld extends CreditWorld {
  reseller(slug: string): Promise<Reseller>;
  /** A request; its answer is `status`. */
  ask<T>(method: Method, path: string, key: string, body?: object, status?: number): Promise<T>;
  /** A request that is refused; its status and code. */
  refused(method: Method, path: string, key: string, body?: object): Promise<[number, string]>;
  /** An organization with keys that is a customer of `reseller`, on `tier_id`. */
  child(reseller: Reseller, slug: string, tier_id?: string | null): Promise<Tenant>;
}

/** Starts everything on a database of its own. */
export async function startResellers(): Promise<ResellerWorld> {
  const world = await startWorld();
  const { harness } = world;
  const send = (method: Method, path: string, key: string, body?: object) =>
    harness.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const ask = async <T>(method: Method, path: string, key: string, body?: object, status = 200) => {
    const reply = await send(method, path, key, body);
    expect([reply.statusCode, reply.body], reply.body).toEqual([status, reply.body]);
    return (reply.body === '' ? null : reply.json()) as T;
  };
  return {
    ...world,
    ask,
    async refused(method, path, key, body) {
      const reply = await send(method, path, key, body);
      return [reply.statusCode, codeOf(reply)];
    },
    async reseller(slug) {
      const tenant = await harness.makeTenant(slug);
      const set = { id: tenant.org.id, kind: 'reseller', reason: 'a contract' } as const;
      await setOrgKindOperation.run(harness.context, set);
      const owner = await harness.makePerson(tenant, 'owner');
      return { ...tenant, owner, token: await harness.signIn(owner) };
    },
    async child(reseller, slug, tier_id = null) {
      const tenant = await harness.makeTenant(slug);
      await world.rows(
        `update org set kind = 'child', parent_org_id = $2, reseller_tier_id = $3 where id = $1`,
        [...[tenant.org.id, reseller.org.id, tier_id]],
      );
      return tenant;
    },
  };
}
