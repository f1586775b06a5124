// Rail-a over HTTP: its API with basic authentication and JSON, its checkout, and controls to make it misbehave.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ApiFault, bodyOf, Faults, garble, pause } from '../faults.ts';
import { readState, writeState } from '../state-file.ts';
import { type DeliveryKnobs, Webhooks } from '../webhooks.ts';
import { acts } from './acts.ts';
import { callApi } from './api.ts';
import { type Checkout, checkoutScript, openCheckout } from './checkout.ts';
import { Disputes } from './disputes.ts';
import type { Bank, NoticeFate } from './mandates.ts';
import { type Order, type Payment, type RailAEvent, RailARefusal } from './objects.ts';
import { checkoutPage, returnPage } from './page.ts';
import { type SettlementFault, Settlements } from './settlements.ts';
import { type Body, RailAStore } from './store.ts';
import { railAWire, signReturn } from './wire.ts';

export interface RailASimOptions {
  readonly port?: number;
  readonly host?: string;
  readonly webhook_url?: string;
  readonly webhook_secrets?: readonly string[];
  /** Accepted `key_id:key_secret`; none given: any key id that begins with `rzp_test_`. */
  readonly keys?: readonly string[];
  /** Where orders, payments and refunds outlive the process; absent: nowhere. */
  readonly state_file?: string;
}

export interface RailAKnobs {
  readonly webhooks?: Partial<DeliveryKnobs>;
  readonly webhook_url?: string;
  readonly webhook_secrets?: readonly string[];
  readonly api?: readonly ApiFault[];
  readonly amount_delta?: number;
  readonly currency?: string | null;
  readonly settlement?: SettlementFault;
  /** What the next refunds are at first. */
  readonly refunds?: 'processed' | 'pending';
  /** What becomes of the next notices before a debit. */
  readonly notices?: NoticeFate;
  /** How far its clock is from the machine's. */
  readonly clock_shift_ms?: number;
}

export interface RailASim {
  readonly url: string;
  readonly port: number;
  readonly store: RailAStore;
  readonly settlements: Settlements;
  readonly disputes: Disputes;
  readonly webhooks: Webhooks<RailAEvent>;
  /** `METHOD /path` of every API call, in order. */
  readonly calls: string[];
  turn(knobs: RailAKnobs): void;
  /** Does what a payer, a bank or the rail does with an order, and returns the payment that it was done to. */
  act(order_id: string, action: string): Payment;
  close(): Promise<void>;
}

class RailAServer {
  readonly webhooks = new Webhooks(railAWire);
  readonly store = new RailAStore((event) => this.webhooks.take(event));
  readonly disputes = new Disputes(this.store);
  readonly settlements = new Settlements(this.store, this.disputes);
  readonly calls: string[] = [];
  private readonly checkouts = new Map<string, Checkout>();
  private readonly faults = new Faults();
  private readonly keys: readonly string[];
  private readonly state_file: string | undefined;
  url = '';

  constructor(options: RailASimOptions) {
    this.keys = options.keys ?? [];
    this.webhooks.url = options.webhook_url ?? null;
    this.webhooks.secrets = options.webhook_secrets ?? [];
    this.state_file = options.state_file;
    if (this.state_file !== undefined) readState(this.state_file, this.maps());
  }

  private maps() {
    const { orders, payments, refunds, refund_keys } = this.store;
    const { settlements, items } = this.settlements;
    const { checkouts } = this;
    const { all: disputes } = this.disputes;
    const { customers, tokens, notices } = this.store.mandates;
    return {
      customers,
      tokens,
      notices,
      orders,
      payments,
      refunds,
      refund_keys,
      settlements,
      items,
      checkouts,
      disputes,
    };
  }

  private save(): void {
    if (this.state_file !== undefined) writeState(this.state_file, this.maps());
  }

  turn(knobs: RailAKnobs): void {
    if (knobs.webhooks !== undefined) this.webhooks.knobs = { ...this.webhooks.knobs, ...knobs.webhooks };
    if (knobs.webhook_url !== undefined) this.webhooks.url = knobs.webhook_url;
    if (knobs.webhook_secrets !== undefined) this.webhooks.secrets = knobs.webhook_secrets;
    if (knobs.api !== undefined) this.faults.set(knobs.api);
    if (knobs.amount_delta !== undefined) this.store.amount_delta = knobs.amount_delta;
    if (knobs.currency !== undefined) this.store.currency = knobs.currency;
    if (knobs.notices !== undefined) this.store.mandates.notice_fate = knobs.notices;
    if (knobs.clock_shift_ms !== undefined) this.store.clock_shift_ms = knobs.clock_shift_ms;
    if (knobs.refunds !== undefined) this.store.refund_fate = knobs.refunds;
    if (knobs.settlement !== undefined) this.settlements.fault = knobs.settlement;
  }

  act(order_id: string, action: string, checkout?: Checkout): Payment {
    const act = acts[action];
    if (act === undefined) throw new RailARefusal(404, `no such act: ${action}`);
    const payment = act(this.store, order_id, checkout ?? {});
    this.save();
    return payment;
  }

  /** A payer gives the leave that an order asks for; the payment that proves it. */
  private register(order: Order, bank: string, checkout: Checkout): Payment {
    const token = this.store.mandates.register(order, bank as Bank, checkout.notes);
    this.save();
    const paid = this.store.paymentsOf(order.id).find(({ token_id }) => token_id === token.id);
    return paid as Payment;
  }

  /** The secret of the key that a call came with. @throws RailARefusal for an unknown one. */
  private authorise(request: IncomingMessage): void {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const key = Buffer.from(basic, 'base64').toString('utf8');
    const is_known = this.keys.length === 0 ? key.startsWith('rzp_test_') : this.keys.includes(key);
    if (!is_known) throw new RailARefusal(401, 'Authentication failed', { reason: 'NA' });
  }

  /** The secret that the return of a browser is signed with. */
  private keySecret(): string {
    return this.keys[0]?.split(':')[1] ?? 'secret';
  }

  async serveApi(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const text = await bodyOf(request);
    const call = `${request.method} ${url.pathname}`;
    this.calls.push(call);
    this.authorise(request);
    const fault = this.faults.take(call);
    if (fault?.mode === 'error') {
      const { description = 'We are facing some trouble completing your request.', reason } = fault;
      throw new RailARefusal(fault.status ?? 500, description, { reason: reason ?? 'server_error' });
    }
    if (fault?.mode === 'delay') await pause(fault);
    const key = request.headers['x-refund-idempotency'];
    const answer = callApi(this.store, this, {
      method: request.method as string,
      path: url.pathname,
      query: url.searchParams,
      body: text === '' ? {} : (JSON.parse(text) as Body),
      refund_key: typeof key === 'string' ? key : null,
    });
    if (request.method !== 'GET') this.save();
    if (fault?.mode === 'late_answer') await pause(fault);
    if (fault?.mode === 'lost_answer') {
      request.socket.destroy();
      return;
    }
    if (fault?.mode === 'garbled') return garble(response, fault);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }

  private show(response: ServerResponse, html: string): void {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    response.end(html);
  }

  /** Takes a merchant's form and sends the browser to the page of its own. */
  async serveOpening(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ids = this.keys.map((key) => key.split(':')[0] as string);
    const checkout = openCheckout(this.store, new URLSearchParams(await bodyOf(request)), ids);
    this.checkouts.set(checkout.id, checkout);
    this.save();
    response.writeHead(303, { location: `/checkout/${checkout.id}` }).end();
  }

  async servePage(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, , checkout_id = '', action = ''] = url.pathname.split('/');
    const checkout = this.checkouts.get(checkout_id);
    if (checkout === undefined) throw new RailARefusal(404, 'There is no such checkout.');
    const order = this.store.order(checkout.order_id);
    const page = (alert: string | null) => {
      const open = this.store
        .paymentsOf(order.id)
        .find(({ error_reason }) => error_reason === 'payment_timed_out');
      this.show(response, checkoutPage({ checkout, order, waiting: open ?? null, alert }));
    };
    if (request.method !== 'POST') return page(null);
    await bodyOf(request);
    if (action === 'close') {
      response.writeHead(303, { location: checkout.cancel_url }).end();
      return;
    }
    const payment =
      order.token === undefined
        ? this.act(order.id, action, checkout)
        : this.register(order, action, checkout);
    if (!payment.captured) return page(payment.error_description);
    const { id: razorpay_payment_id, order_id: razorpay_order_id } = payment;
    const razorpay_signature = signReturn(razorpay_order_id, razorpay_payment_id, this.keySecret());
    this.show(response, returnPage(checkout, { razorpay_payment_id, razorpay_order_id, razorpay_signature }));
  }

  async serveControl(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const text = await bodyOf(request);
    const [, , what, object_id = '', action = ''] = url.pathname.split('/');
    let answer: unknown = {};
    if (what === 'knobs') this.turn(JSON.parse(text) as RailAKnobs);
    else if (what === 'orders') answer = this.act(object_id, action);
    else if (what === 'disputes') {
      // `/_sim/disputes/{payment}` opens one, `/_sim/disputes/{id}/{under_review|won|lost|closed}` moves it.
      answer =
        action === ''
          ? this.disputes.open(object_id, text === '' ? {} : JSON.parse(text))
          : this.disputes.move(object_id, action as 'won');
    } else if (what === 'refunds') {
      // `/_sim/refunds/{payment}` with {amount} is the rail's own dashboard; `/_sim/refunds/{id}/{processed|failed|slow}` is what follows.
      if (action === '')
        answer = this.store.refund(object_id, text === '' ? {} : (JSON.parse(text) as Body), null);
      else if (action === 'slow') answer = this.store.slowRefund(object_id);
      else answer = this.store.finishRefund(object_id, action === 'failed' ? 'failed' : 'processed');
    } else if (what === 'settle') answer = this.settlements.settle();
    else if (what === 'release') answer = { released: this.webhooks.release() };
    else if (what === 'resend') {
      const times = Number(url.searchParams.get('times') ?? 1);
      answer = { sent: this.webhooks.resend(url.searchParams.get('event') ?? '', times) };
    } else if (what === 'state') {
      const maps = Object.entries(this.maps()).map(([name, map]) => [name, [...map.values()]]);
      const { events, deliveries } = this.webhooks;
      answer = { ...Object.fromEntries(maps), events, deliveries, calls: this.calls };
    } else throw new RailARefusal(404, 'no such control');
    this.save();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }

  private async route(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const path = url.pathname;
    if (path === '/v1/checkout.js') {
      response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
      response.end(checkoutScript(this.url));
    } else if (path === '/v1/checkout/embedded') await this.serveOpening(request, response);
    else if (path.startsWith('/v1/')) await this.serveApi(request, response, url);
    else if (path.startsWith('/checkout/')) await this.servePage(request, response, url);
    else if (path.startsWith('/_sim/')) await this.serveControl(request, response, url);
    else throw new RailARefusal(404, 'The requested URL was not found on the server.');
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.route(request, response, new URL(request.url ?? '/', 'http://rail'));
    } catch (error) {
      const refusal = error instanceof RailARefusal ? error : new RailARefusal(500, String(error));
      if (response.headersSent) return;
      response.writeHead(refusal.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(refusal.body));
    }
  }
}

/** Starts the simulated rail-a on a port of its own. */
export async function startRailASim(options: RailASimOptions = {}): Promise<RailASim> {
  const rail = new RailAServer(options);
  const server = createServer((request, response) => void rail.serve(request, response));
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  rail.url = `http://${options.host ?? '127.0.0.1'}:${port}`;
  return {
    url: rail.url,
    port,
    store: rail.store,
    settlements: rail.settlements,
    disputes: rail.disputes,
    webhooks: rail.webhooks,
    calls: rail.calls,
    turn: (knobs) => rail.turn(knobs),
    act: (order_id, action) => rail.act(order_id, action),
    async close() {
      rail.webhooks.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
