// Organizations with a data policy of their own, changed as a customer would: over REST.
import { expect } from 'vitest';
import type { Json } from '../calls/caller.ts';
import { eventually, type Org, type World } from '../calls/world.ts';

export interface Tenant extends Org {
  /** A key that has made no call before the policy stood. */
  readonly key: string;
  readonly key_id: string;
}

/** A request of an organization's owner key to the management API. */
export async function manage(
  world: World,
  org: Pick<Org, 'live_key'>,
  call: { method: string; path: string; body?: object },
): Promise<{ status: number; body: Json }> {
  const reply = await fetch(`${world.gateway.base_url}${call.path}`, {
    method: call.method,
    headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  });
  return { status: reply.status, body: (await reply.json()) as Json };
}

/** Changes an organization's data policy. */
export async function setPolicy(world: World, org: Org, data_policy: object): Promise<Json> {
  const path = `/v1/orgs/${org.org_id}`;
  const { status, body } = await manage(world, org, { method: 'PATCH', path, body: { data_policy } });
  expect([status, body['error'] ?? null]).toEqual([200, null]);
  return body['data_policy'] as Json;
}

/** An organization under `data_policy`; its key is not known to the gateway yet, so the policy holds from the first call. */
export async function tenantUnder(world: World, data_policy: object): Promise<Tenant> {
  const org = await world.org(5_000_000, [{ name: 'owner' }, { name: 'calls' }]);
  await setPolicy(world, org, data_policy);
  const calls = org.keys[1] as Org['keys'][number];
  return { ...org, key: calls.secret, key_id: calls.key_id };
}

/** The detail of a call once its row is there and its content is not on its way any more. */
export function detailOf(world: World, org: Org, request_id: string): Promise<Json> {
  return eventually(`detail of ${request_id}`, async () => {
    const { status, body } = await manage(world, org, { method: 'GET', path: `/v1/requests/${request_id}` });
    return status === 200 && body['payload_state'] !== 'pending' ? body : null;
  });
}

/** How many payloads an organization has stored. */
export async function storedOf(world: World, org: Org): Promise<number> {
  const { rows } = await world.db.query<{ n: number }>(
    'select count(*)::int as n from request_payload where org_id = $1',
    [org.org_id],
  );
  return rows[0]?.n ?? 0;
}
