// Calls with a shadow, for tests: a model of two scripted endpoints, of which the first answers and the second gets copies.
import { expect } from 'vitest';
import { inOrder } from '../calls/endpoints.ts';
import { type Handler, refuse, wholeAnswer } from '../calls/upstream.ts';
import { bodyOf, eventually, idOf, type Org, type Row, send, type World } from '../calls/world.ts';

/** Where the shadow is asked, and what the calls ask for. */
export interface Shadowed {
  readonly org: Org;
  readonly model: string;
  readonly upstream: string;
  readonly endpoint_id: string;
}

/** A management request of `org`; its status and JSON. */
export async function manage(world: World, org: Org, method: string, path: string, body?: object) {
  const reply = await fetch(`${world.gateway.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, json: await reply.json() };
}

/** Makes `yaml` the policy `copies` of the organization, and waits until calls are ruled by it. */
export async function activate(world: World, org: Org, yaml: string): Promise<void> {
  const made = await manage(world, org, 'POST', '/v1/policies', { name: 'copies', yaml });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
  const active = await manage(world, org, 'POST', '/v1/policies/copies/activate', { version: 1 });
  expect(active.status).toBe(200);
}

/** An organization whose calls of a model are all copied to its second endpoint; `more` are members of the shadow. */
export async function shadowed(
  world: World,
  given: { org?: Org; more?: string; rules?: string } = {},
): Promise<Shadowed> {
  const org = given.org ?? (await world.org());
  const { id, upstream } = world.model('script-pair');
  world.script.on(upstream, 'a', refuse(200, wholeAnswer(upstream)));
  world.script.on(upstream, 'b', refuse(200, wholeAnswer(upstream)));
  // A call that is ruled by nothing yet tells what the second endpoint is called.
  const asked = await send(world, 'chat', org.live_key, bodyOf(id, 'Hi', inOrder('script-b', 'script-a')))
    .reply;
  expect(asked.status).toBe(200);
  const endpoint_id = asked.headers['x-svc-endpoint-id'] ?? '';
  const shadow = `shadow: {endpoint: ${endpoint_id}, percent: 100${given.more ?? ''}}`;
  await activate(world, org, `defaults: {${given.rules ?? ''}${shadow}}`);
  return { org, model: id, upstream, endpoint_id };
}

/** Answers copies, or whatever reaches the second endpoint, as `handler` says. */
export function copiesGet(world: World, { upstream }: Shadowed, handler: Handler): void {
  world.script.on(upstream, 'b', handler);
}

/** A call that the first endpoint answers; its request id. */
export async function call(world: World, { org, model }: Shadowed, more: object = {}): Promise<string> {
  const body = bodyOf(model, 'Hi', { ...inOrder('script-a', 'script-b'), ...more });
  const reply = await send(world, 'chat', org.live_key, body).reply;
  expect(reply.status, reply.text).toBe(200);
  expect(reply.headers['x-svc-provider']).toBe('script-a');
  return idOf(reply);
}

type CopyRow = Row & { readonly request_id: string; readonly model: string };

/** The row of the copy of `of`. */
export function copyOf(world: World, of: string): Promise<CopyRow> {
  return eventually(`the copy of ${of}`, async () => {
    const { rows } = await world.db.query<CopyRow>(
      `select * from request_row where tags->>'shadow_of' = $1`,
      [of],
    );
    return rows[0] ?? null;
  });
}

/** What `GET …/shadows` says, once `holds` is true of it. */
export function shown(
  world: World,
  org: Org,
  holds: (shadow: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  return eventually('the shadow is counted', async () => {
    const { json } = await manage(world, org, 'GET', '/v1/policies/copies/shadows?hours=2');
    const [first] = (json as { data: Record<string, unknown>[] }).data;
    return first !== undefined && holds(first) ? first : null;
  });
}
