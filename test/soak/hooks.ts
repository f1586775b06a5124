// Servers of organizations of a soak, which webhooks tell what happened: they verify each request, refuse some events at
// first, and go on with a replaced secret for an hour before they take up the new one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Draw } from '../crash/draw.ts';
import { bodyOf } from '../sim/rails/faults.ts';
import type { Customer } from './customers.ts';
import { expectStatus, post } from './traffic.ts';
import type { World } from './world.ts';

/** Settings of the programs that make deliveries: receivers are on this machine, and speak no TLS. */
export const HOOK_SETTINGS = { SVC_ALLOW_INSECURE_WEBHOOKS: '1', SVC_EGRESS_ALLOW: '127.0.0.0/8' } as const;

const HOOKED_MAX = 40;
const REFUSED_AT_FIRST = 0.05;

interface WebhookEvent {
  readonly type: string;
  readonly data: { readonly topup_id?: string };
}

interface Hook {
  readonly customer: Customer;
  readonly id: string;
  /** What requests are verified with. */
  secret: string;
  /** What it was replaced by, and is verified with from the next hour on. */
  successor: string | null;
  /** Top-ups that an event said are booked. */
  readonly topups: Set<string>;
}

export interface Hooks {
  /** Events that arrived, each once. */
  readonly events: number;
  /** Replaces the secret of one endpoint; servers of the hour before take up theirs. */
  rotate(): Promise<void>;
  /** What is wrong, once nothing is under way: what was said twice in other words, or not at all. */
  judge(): Promise<string[]>;
  close(): Promise<void>;
}

async function ask(world: World, { key }: Customer, path: string, body: object): Promise<Hook> {
  const answer = await post(`${world.origin()}${path}`, key.secret, body);
  expectStatus(answer, path.endsWith('/rotate') ? 200 : 201);
  return JSON.parse(answer.text) as Hook;
}

class Receivers {
  readonly hooks = new Map<string, Hook>();
  readonly faults: string[] = [];
  /** What each event said when it came first. */
  readonly said = new Map<string, string>();
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  /** Takes a request and returns the status of its answer. */
  take(path: string, headers: Record<string, string>, body: string): number {
    const hook = this.hooks.get(path.slice(1));
    const id = headers['webhook-id'] ?? '';
    if (hook === undefined) {
      this.faults.push(`an event for ${path}, which is nobody's`);
      return 404;
    }
    let event: WebhookEvent;
    try {
      event = new Webhook(hook.secret).verify(body, headers) as WebhookEvent;
    } catch (error) {
      this.faults.push(`event ${id} of ${hook.id}: ${(error as Error).message}`);
      return 400;
    }
    const before = this.said.get(id);
    if (before !== undefined && before !== body) this.faults.push(`event ${id} came in two forms`);
    this.said.set(id, body);
    if (before === undefined && this.#draw.unit() < REFUSED_AT_FIRST) return 500;
    if (event.type === 'topup.completed') hook.topups.add(event.data.topup_id ?? '');
    return 204;
  }
}

/** Top-ups of `org_ids` that were paid. */
const PAID = `select org_id, id from topup where status = 'paid' and org_id = any($1)`;

async function judge(world: World, receivers: Receivers): Promise<string[]> {
  const faults = receivers.faults.splice(0);
  const all = [...receivers.hooks.values()];
  const paid = await world.rows<{ org_id: string; id: string }>(PAID, [
    all.map(({ customer }) => customer.org_id),
  ]);
  for (const { id, customer, topups } of all) {
    const booked = new Set(paid.flatMap((row) => (row.org_id === customer.org_id ? [row.id] : [])));
    const untold = booked.difference(topups);
    const untrue = topups.difference(booked);
    if (untold.size > 0) faults.push(`${id} was not told of ${[...untold].join(', ')}`);
    if (untrue.size > 0) faults.push(`${id} was told of ${[...untrue].join(', ')}, which were not paid`);
  }
  return faults;
}

/** Makes an endpoint for each of the first customers; the caller closes their servers. */
export async function openHooks(world: World, draw: Draw): Promise<Hooks> {
  const receivers = new Receivers(draw);
  const server = createServer(async (request, response) => {
    const headers = request.headers as Record<string, string>;
    response.writeHead(receivers.take(request.url ?? '', headers, await bodyOf(request))).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  for (const customer of world.customers.slice(0, HOOKED_MAX)) {
    const url = `http://127.0.0.1:${port}/${customer.org_id}`;
    const { id, secret } = await ask(world, customer, '/v1/webhooks', { url, events: ['*'] });
    receivers.hooks.set(customer.org_id, { customer, id, secret, successor: null, topups: new Set() });
  }
  return {
    get events() {
      return receivers.said.size;
    },
    async rotate() {
      const all = [...receivers.hooks.values()];
      for (const hook of all) {
        hook.secret = hook.successor ?? hook.secret;
        hook.successor = null;
      }
      const hook = draw.pick(all);
      hook.successor = (await ask(world, hook.customer, `/v1/webhooks/${hook.id}/rotate`, {})).secret;
    },
    judge: () => judge(world, receivers),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
