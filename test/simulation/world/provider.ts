// Providers of models as the gateway sees them: every piece of an answer is an event of the loop, and what a call is
// answered with stands in its plan.
import type { CallDeps } from '@svc/core/inference/index.ts';
import type { PlannedCall } from '../../crash/plan.ts';
import { OWN_SECRET, type Served } from '../../crash/provider.ts';
import { Actor, type Loop } from '../engine/loop.ts';
import { costOf, isOpen } from './models.ts';

type Transport = CallDeps['transport'];
type Send = Parameters<Transport['send']>;
type Exchange = ReturnType<Transport['send']>;

/** A token of the prompt for so many of its characters: less than any bound that the gateway has. */
const CHARACTERS = 6;
/** The part of a prompt that a model which hears has heard. */
const AUDIO = 0.1;
/** Usage, the word that ends a stream, and its end. */
const AFTER_FINISH = 3;
const SOON_MS = 20;
const TRIP_MS = 0.05;

/** What providers have done in a run. */
export class Providers {
  readonly served = new Map<number, Served>();
  readonly #calls = new Map<number, PlannedCall>();
  readonly #loop: Loop;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  plan(call: PlannedCall): void {
    this.#calls.set(call.no, call);
  }

  /** A gateway's way to all providers. */
  transport(): Transport {
    return {
      send: (to, request, handler) => this.#answer(to, request, handler),
      connections: () => 0,
      close: async () => {},
    };
  }

  #answer(to: Send[0], request: Send[1], handler: Send[2]): Exchange {
    const body = JSON.parse(request.body.toString()) as { stream?: boolean };
    const text = request.body.toString();
    const no = Number(/sim: mark=(\d+) /.exec(text)?.[1]);
    const call = this.#calls.get(no);
    if (call === undefined) throw new Error(`no call was planned like this: ${text.slice(0, 200)}`);
    const prompt_tokens = Math.ceil(text.length / CHARACTERS) + call.over_report;
    const audio = isOpen(call.model) ? Math.floor(prompt_tokens * AUDIO) : 0;
    const used = { input: prompt_tokens, output: call.tokens, audio };
    const is_own = to.credentials.some((part) => part.endsWith(OWN_SECRET));
    const cost_micro_usd = costOf({ model: call.model, is_own }, used);
    let attempts = 0;
    const arrives = (): Piece[] => {
      const before = this.served.get(no);
      attempts = (before?.attempts ?? 0) + 1;
      const finished = before?.finished === true;
      this.served.set(no, {
        attempts,
        finished,
        cost_micro_usd: finished ? before.cost_micro_usd : cost_micro_usd,
      });
      const id = call.behaviour === 'same_id' ? 'same' : `${no}-${attempts}`;
      const facts = { call, attempts, prompt_tokens, audio, id };
      return body.stream === true ? streamOf(facts) : wholeOf(facts);
    };
    const ends = () => this.served.set(no, { attempts, finished: true, cost_micro_usd });
    const exchange = new SimExchange(this.#loop, handler, { arrives, ends });
    exchange.begin(no, call.chunk_ms);
    return exchange;
  }
}

interface Facts {
  readonly call: PlannedCall;
  readonly attempts: number;
  readonly prompt_tokens: number;
  /** Of them. */
  readonly audio: number;
  readonly id: string;
}

/** How an answer goes on: its head, bytes, its end, or the end of its connection. */
type Piece =
  | { readonly head: number; readonly type: string }
  | { readonly bytes: string }
  | { readonly end: true }
  | { readonly broken: true };

const JSON_TYPE = 'application/json';
const SSE_TYPE = 'text/event-stream';

function refusal(): Piece[] {
  const bytes = JSON.stringify({ error: { message: 'simulated fault', type: 'server_error', code: null } });
  return [{ head: 500, type: JSON_TYPE }, { bytes }, { end: true }];
}

function refuses({ call, attempts }: Facts): boolean {
  return call.behaviour === 'refused' || (call.behaviour === 'flaky' && attempts === 1);
}

function usageOf({ call, prompt_tokens, audio }: Facts): object {
  return {
    prompt_tokens,
    completion_tokens: call.tokens,
    total_tokens: prompt_tokens + call.tokens,
    ...(audio === 0 ? {} : { prompt_tokens_details: { audio_tokens: audio } }),
  };
}

function wholeOf(facts: Facts): Piece[] {
  const { call, id } = facts;
  if (refuses(facts)) return refusal();
  if (call.behaviour === 'cut' || call.behaviour === 'fault')
    return [{ head: 200, type: JSON_TYPE }, { bytes: '{"id":' }, { broken: true }];
  const choice = { index: 0, message: { role: 'assistant', content: 'simulated' }, finish_reason: 'stop' };
  const bytes = JSON.stringify({
    ...{ id, object: 'chat.completion', created: 1, model: 'crash', choices: [choice] },
    usage: usageOf(facts),
  });
  return [{ head: 200, type: JSON_TYPE }, { bytes }, { end: true }];
}

function streamOf(facts: Facts): Piece[] {
  const { call, id } = facts;
  if (refuses(facts)) return refusal();
  const event = (part: object): Piece => ({
    bytes: `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: 'crash', ...part })}\n\n`,
  });
  const text = (n: number) =>
    event({
      choices: [{ index: 0, delta: { role: 'assistant', content: `piece ${n} ` }, finish_reason: null }],
    });
  const pieces: Piece[] = [{ head: 200, type: SSE_TYPE }];
  for (let n = 0; n < call.chunks; n++) {
    pieces.push(text(n));
    if (call.behaviour === 'cut') return [...pieces, { broken: true }];
    if (call.behaviour === 'fault')
      return [
        ...pieces,
        { bytes: `data: ${JSON.stringify({ error: { message: 'broken', type: 'server_error' } })}\n\n` },
        { end: true },
      ];
  }
  pieces.push(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  pieces.push(event({ choices: [], usage: usageOf(facts) }), { bytes: 'data: [DONE]\n\n' }, { end: true });
  return pieces;
}

/** What a provider notes of a request. */
interface Notes {
  /** It has come: its answer. */
  arrives(): Piece[];
  /** All of its answer has gone out. */
  ends(): void;
}

class SimExchange implements Exchange {
  sent = false;
  #over = false;
  #paused = false;
  #what = '';
  #pace_ms = 0;
  readonly #loop: Loop;
  readonly #actor: Actor;
  readonly #handler: Send[2];
  #pieces: Piece[] = [];
  /** On their way, in order. */
  readonly #underway: Piece[] = [];
  /** Those that the gateway has not read yet. */
  readonly #arrived: Piece[] = [];
  readonly #provider = new Actor('provider');
  readonly #notes: Notes;

  constructor(loop: Loop, handler: Send[2], notes: Notes) {
    this.#loop = loop;
    this.#actor = loop.actor;
    this.#handler = handler;
    this.#notes = notes;
  }

  /** The request is on its way; until it arrives it can be taken back. */
  begin(no: number, pace_ms: number): void {
    this.#what = `provider answers ${no}`;
    this.#pace_ms = pace_ms;
    const arrive = () => {
      if (this.#over) return;
      this.sent = true;
      this.#pieces = this.#notes.arrives();
      this.#next();
    };
    this.#loop.later(`provider is asked ${no}`, this.#loop.draw.unit() * 2, arrive, this.#actor);
  }

  /** The next piece goes out, whatever the gateway does meanwhile. */
  #next(): void {
    const [piece] = this.#pieces.splice(0, 1);
    if (piece === undefined) return;
    // What follows the finish of an answer follows soon: its usage is not waited for without end.
    const pace_ms = this.#pieces.length < AFTER_FINISH ? Math.min(this.#pace_ms, SOON_MS) : this.#pace_ms;
    const delay_ms = this.#loop.draw.unit() * (1 + 2 * pace_ms);
    const goesOut = () => {
      if (this.#over || !this.#actor.alive) return;
      // All of an answer has gone out once its last bytes have, whether its end is waited for or not.
      if (this.#pieces.length === 1 && 'end' in (this.#pieces[0] as Piece)) this.#notes.ends();
      this.#underway.push(piece);
      this.#loop.later(this.#what, TRIP_MS, () => this.#arrives(), this.#actor);
      this.#next();
    };
    this.#loop.later(`${this.#what}: a piece`, delay_ms, goesOut, this.#provider);
  }

  /** The next one, whichever of several at the same moment the die has called: a connection keeps their order. */
  #arrives(): void {
    this.#arrived.push(...this.#underway.splice(0, 1));
    this.#deliver();
  }

  #deliver(): void {
    while (!this.#over && !this.#paused) {
      const piece = this.#arrived.shift();
      if (piece === undefined) return;
      if ('head' in piece) this.#handler.head(piece.head, { 'content-type': piece.type });
      else if ('bytes' in piece) this.#handler.data(Buffer.from(piece.bytes));
      else this.#end('end' in piece);
    }
  }

  #end(whole: boolean): void {
    this.#over = true;
    if (whole) return this.#handler.end();
    const message = 'the provider broke off';
    this.#handler.error({ message, code: 'ECONNRESET', unsent: false, timeout: false });
  }

  abort(): void {
    this.#over = true;
  }
  pause(): void {
    this.#paused = true;
  }
  resume(): void {
    this.#paused = false;
    if (this.#arrived.length > 0) this.#loop.later(this.#what, TRIP_MS, () => this.#deliver(), this.#actor);
  }
  release(): void {}
}
