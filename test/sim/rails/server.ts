// The rail over HTTP: its API with idempotency keys, its checkout page, and controls to make it misbehave.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ApiFault, bodyOf, Faults, garble, pause } from './faults.ts';
import { type Form, parseForm, textAt } from './form.ts';
import { expanded, listOf, pathsOf } from './lists.ts';
import type { CardFate } from './mandates.ts';
import { type RailEvent, RailRefusal, type Session } from './objects.ts';
import { checkoutPage, setupPage } from './page.ts';
import type { PayoutFault } from './payouts.ts';
import { readState, writeState } from './state-file.ts';
import { RailStore } from './store.ts';
import { type DeliveryKnobs, Webhooks } from './webhooks.ts';
import { railBWire } from './wire.ts';

export interface RailSimOptions {
  readonly port?: number;
  readonly host?: string;
  /** Where events go; can be set later by a knob. */
  readonly webhook_url?: string;
  readonly webhook_secrets?: readonly string[];
  /** Accepted secret keys; none given: any that begins with `sk_test_`. */
  readonly keys?: readonly string[];
  /** Where sessions, payments and refunds outlive the process; absent: nowhere. */
  readonly state_file?: string;
}

export interface Knobs {
  readonly webhooks?: Partial<DeliveryKnobs>;
  readonly webhook_url?: string;
  readonly webhook_secrets?: readonly string[];
  readonly api?: readonly ApiFault[];
  readonly amount_delta?: number;
  /** What the next refunds are at first. */
  readonly refunds?: 'succeeded' | 'pending';
  /** How the next payouts differ from what they are made of. */
  readonly payout?: PayoutFault;
  /** The rail forgets its idempotency keys, as it does after a day. */
  readonly forget_keys?: boolean;
}

export interface RailSim {
  readonly url: string;
  readonly port: number;
  readonly store: RailStore;
  readonly webhooks: Webhooks<RailEvent>;
  /** `METHOD /path` of every API call, in order. */
  readonly calls: string[];
  /** Versions of the API that callers named. */
  readonly versions: ReadonlySet<string>;
  turn(knobs: Knobs): void;
  /** Does what a payer, a bank or the rail does: `pay`, `fail`, `later`, `arrive`, `bounce`, `again`, `expire`. */
  act(session_id: string, action: string): Session;
  close(): Promise<void>;
}

interface Kept {
  readonly fingerprint: string;
  /** Null while the first call runs. */
  answer: { status: number; body: string } | null;
}

const FATES: readonly string[] = ['ok', 'insufficient_funds', 'authentication_required', 'expired_card'];
const isFate = (word: string): word is CardFate => FATES.includes(word);

class RailServer {
  readonly store: RailStore;
  readonly webhooks = new Webhooks(railBWire);
  readonly calls: string[] = [];
  readonly versions = new Set<string>();
  private readonly kept = new Map<string, Kept>();
  private readonly faults = new Faults();
  private readonly keys: readonly string[];
  private readonly state_file: string | undefined;
  url = '';

  constructor(options: RailSimOptions) {
    this.keys = options.keys ?? [];
    this.webhooks.url = options.webhook_url ?? null;
    this.webhooks.secrets = options.webhook_secrets ?? [];
    this.store = new RailStore({
      pageUrl: (session_id) => `${this.url}/c/pay/${session_id}`,
      emit: (event) => this.webhooks.take(event),
    });
    this.state_file = options.state_file;
  }

  private maps() {
    const { sessions, intents, charges, balances, refunds, disputes, mandates, paying } = this.store;
    const { sessions: setups, setup_intents, payment_methods } = mandates;
    const kept = { kept: this.kept, setups, setup_intents, payment_methods, payouts: paying.all };
    return { sessions, intents, charges, balances, refunds, disputes, ...kept };
  }

  /** Takes up what an earlier process left; its pages are at the address of this one. */
  resume(): void {
    if (this.state_file === undefined) return;
    readState(this.state_file, this.maps());
    for (const session of this.store.sessions.values()) session.url = this.store.pageOf(session.id);
    for (const setup of this.store.mandates.sessions.values())
      setup.url = this.store.pageOf(setup.id).replace('/c/pay/', '/c/setup/');
  }

  private save(): void {
    if (this.state_file !== undefined) writeState(this.state_file, this.maps());
  }

  turn(knobs: Knobs): void {
    if (knobs.webhooks !== undefined) this.webhooks.knobs = { ...this.webhooks.knobs, ...knobs.webhooks };
    if (knobs.webhook_url !== undefined) this.webhooks.url = knobs.webhook_url;
    if (knobs.webhook_secrets !== undefined) this.webhooks.secrets = knobs.webhook_secrets;
    if (knobs.api !== undefined) this.faults.set(knobs.api);
    if (knobs.amount_delta !== undefined) this.store.amount_delta = knobs.amount_delta;
    if (knobs.refunds !== undefined) this.store.refunding.fate = knobs.refunds;
    if (knobs.payout !== undefined) this.store.paying.fault = knobs.payout;
    if (knobs.forget_keys === true) this.kept.clear();
  }

  act(session_id: string, action: string): Session {
    const session = this.actOn(session_id, action);
    this.save();
    return session;
  }

  private actOn(session_id: string, action: string): Session {
    switch (action) {
      case 'pay':
        return this.store.pay(session_id);
      case 'fail':
        return this.store.decline(session_id);
      case 'later':
        return this.store.payLater(session_id);
      case 'arrive':
        return this.store.arrive(session_id);
      case 'bounce':
        return this.store.bounce(session_id);
      case 'again':
        return this.store.payAgain(session_id);
      case 'expire':
        return this.store.expire(session_id);
      default:
        throw new RailRefusal(404, `no such act: ${action}`);
    }
  }

  private api(method: string, path: string, form: Form, query: URLSearchParams): object {
    const [resource = '', object_id = '', act = ''] = path
      .replace('/v1/checkout/', '/v1/')
      .split('/')
      .slice(2);
    const kept = this.apiOfMandates({ call: `${method} ${resource} ${act}`, object_id, form });
    if (kept !== null) return kept;
    if (method === 'POST' && act === 'expire' && resource === 'sessions') return this.store.expire(object_id);
    if (method === 'POST' && object_id === '' && resource === 'sessions')
      return this.store.createSession(form);
    if (method === 'POST' && object_id === '' && resource === 'refunds')
      return this.store.refunding.create(form);
    if (method === 'GET' && object_id === '') {
      const list = listOf(this.store, resource, query);
      if (list !== null) return list;
    }
    if (method === 'GET' && object_id !== '' && act === '') {
      const is_payment = resource === 'sessions' && !this.store.mandates.sessions.has(object_id);
      const found = is_payment ? this.store.session(object_id) : this.store.object(object_id);
      return expanded(this.store, found, pathsOf(query));
    }
    throw new RailRefusal(404, `Unrecognized request URL (${method}: ${path}).`);
  }

  /** Calls about cards that are kept; null for any other. */
  private apiOfMandates(of: { call: string; object_id: string; form: Form }) {
    const { mandates } = this.store;
    const { call, object_id, form } = of;
    const is_setup = textAt(form, 'mode') === 'setup' || mandates.sessions.has(object_id);
    if (call === 'POST sessions ' && object_id === '' && is_setup) return mandates.createSession(form);
    if (call === 'POST sessions expire' && is_setup) return mandates.expire(object_id);
    if (call === 'POST payment_intents ' && object_id === '') return mandates.charge(form);
    if (call === 'POST payment_intents cancel') return mandates.cancel(object_id);
    return call === 'POST payment_methods detach' ? mandates.detach(object_id) : null;
  }

  private authorise(request: IncomingMessage): void {
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const is_known = this.keys.length === 0 ? key.startsWith('sk_test_') : this.keys.includes(key);
    if (!is_known) throw new RailRefusal(401, 'Invalid API Key provided.');
  }

  /** Runs a call once per idempotency key; every repetition gets the answer of the first. */
  private once(
    request: IncomingMessage,
    fingerprint: string,
    run: () => object,
  ): { status: number; body: string } {
    const key = request.headers['idempotency-key'];
    const kept = typeof key === 'string' && request.method === 'POST' ? this.kept.get(key) : undefined;
    if (kept !== undefined) {
      if (kept.fingerprint !== fingerprint) {
        const message = 'Keys for idempotent requests can only be used with the same parameters.';
        throw new RailRefusal(400, message, { type: 'idempotency_error' });
      }
      if (kept.answer !== null) return kept.answer;
    }
    let answer: { status: number; body: string };
    try {
      answer = { status: 200, body: JSON.stringify(run()) };
    } catch (error) {
      if (!(error instanceof RailRefusal)) throw error;
      answer = { status: error.status, body: JSON.stringify(error.body) };
    }
    if (typeof key === 'string') this.kept.set(key, { fingerprint, answer });
    if (request.method === 'POST') this.save();
    return answer;
  }

  async serveApi(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const text = await bodyOf(request);
    const call = `${request.method} ${url.pathname}`;
    this.calls.push(call);
    this.versions.add(String(request.headers['stripe-version'] ?? ''));
    this.authorise(request);
    const fault = this.faults.take(call);
    if (fault?.mode === 'error') {
      throw new RailRefusal(fault.status ?? 500, 'Something went wrong at the rail.', { type: 'api_error' });
    }
    if (fault?.mode === 'delay') await pause(fault);
    const answer = this.once(request, `${call} ${text}`, () =>
      this.api(request.method as string, url.pathname, parseForm(text), url.searchParams),
    );
    if (fault?.mode === 'late_answer') await pause(fault);
    if (fault?.mode === 'garbled') return garble(response, fault);
    if (fault?.mode === 'lost_answer') {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { 'content-type': 'application/json', 'request-id': 'req_sim' });
    response.end(answer.body);
  }

  async servePage(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, , , session_id = '', action = ''] = url.pathname.split('/');
    const session = this.store.session(session_id);
    const show = (alert: string | null) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
      response.end(checkoutPage(session, alert));
    };
    const leave = (to: string) => {
      response.writeHead(303, { location: to.replaceAll('{CHECKOUT_SESSION_ID}', session.id) });
      response.end();
    };
    if (request.method !== 'POST') return show(null);
    await bodyOf(request);
    if (action === 'close') return leave(session.cancel_url ?? session.success_url);
    this.act(session_id, action);
    if (action === 'fail') return show('Your card was declined. Try again or choose another method.');
    leave(session.success_url);
  }

  async serveSetup(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, , , session_id = '', action = ''] = url.pathname.split('/');
    const { mandates } = this.store;
    const session = mandates.sessions.get(session_id);
    if (session === undefined) throw new RailRefusal(404, 'Not found.');
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
      response.end(setupPage(session));
      return;
    }
    await bodyOf(request);
    if (action !== 'close') {
      mandates.save(session_id, isFate(action) ? action : 'ok');
      this.save();
    }
    const back = action === 'close' ? (session.cancel_url ?? session.success_url) : session.success_url;
    response.writeHead(303, { location: back }).end();
  }

  async serveControl(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const text = await bodyOf(request);
    const [, , what, session_id = '', action = ''] = url.pathname.split('/');
    let answer: unknown = {};
    if (what === 'knobs') this.turn(JSON.parse(text) as Knobs);
    else if (what === 'sessions') answer = this.act(session_id, action);
    else if (what === 'refunds') {
      // `/_sim/refunds/{id}/{succeeded|failed}` ends one; a form without an id is the rail's own dashboard.
      answer =
        session_id === ''
          ? this.store.refunding.create(parseForm(url.search.slice(1)))
          : this.store.refunding.finish(session_id, action === 'failed' ? 'failed' : 'succeeded');
      this.save();
    } else if (what === 'disputes') {
      // `/_sim/disputes/{payment}` opens one, `/_sim/disputes/{id}/{under_review|won|lost}` moves it.
      const { disputing } = this.store;
      answer =
        action === ''
          ? disputing.open(session_id, text === '' ? {} : JSON.parse(text))
          : disputing.move(session_id, action as 'won');
      this.save();
    } else if (what === 'settle') {
      answer = this.store.paying.settle(url.searchParams.get('currency') ?? 'usd');
      this.save();
    } else if (what === 'release') answer = { released: this.webhooks.release() };
    else if (what === 'resend') {
      const form = parseForm(url.search.slice(1));
      answer = {
        sent: this.webhooks.resend(textAt(form, 'event') ?? '', Number(textAt(form, 'times') ?? 1)),
      };
    } else if (what === 'state') {
      const { sessions, intents, refunds, disputes } = this.store;
      const { events, deliveries } = this.webhooks;
      const lists = { sessions: [...sessions.values()], intents: [...intents.values()] };
      answer = {
        ...lists,
        refunds: [...refunds.values()],
        disputes: [...disputes.values()],
        events,
        deliveries,
        calls: this.calls,
      };
    } else throw new RailRefusal(404, 'no such control');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://rail');
    try {
      if (url.pathname.startsWith('/v1/')) await this.serveApi(request, response, url);
      else if (url.pathname.startsWith('/c/pay/')) await this.servePage(request, response, url);
      else if (url.pathname.startsWith('/c/setup/')) await this.serveSetup(request, response, url);
      else if (url.pathname.startsWith('/_sim/')) await this.serveControl(request, response, url);
      else throw new RailRefusal(404, 'Not found.');
    } catch (error) {
      const refusal = error instanceof RailRefusal ? error : new RailRefusal(500, String(error));
      if (response.headersSent) return;
      response.writeHead(refusal.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(refusal.body));
    }
  }
}

/** Starts the simulated rail on a port of its own. */
export async function startRailSim(options: RailSimOptions = {}): Promise<RailSim> {
  const rail = new RailServer(options);
  const server = createServer((request, response) => void rail.serve(request, response));
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  rail.url = `http://${options.host ?? '127.0.0.1'}:${port}`;
  rail.resume();
  return {
    url: rail.url,
    port,
    store: rail.store,
    webhooks: rail.webhooks,
    calls: rail.calls,
    versions: rail.versions,
    turn: (knobs) => rail.turn(knobs),
    act: (session_id, action) => rail.act(session_id, action),
    async close() {
      rail.webhooks.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
