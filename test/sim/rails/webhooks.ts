// Deliveries of the simulated rail: signed, at least once, in no guaranteed order, sent again until answered with 2xx.

/** Waits between attempts; the real rail waits hours. The last one repeats. */
const RETRY_MS = [100, 200, 400, 800, 1_500] as const;
const TRIES_MAX = 200;
const PATIENCE_MS = 15_000;

/** How a rail words and signs its events. */
export interface Wire<E> {
  /** The bytes that are sent and signed. */
  body(event: E): string;
  /** The signature under `secrets`, at a second of the machine's clock. */
  sign(body: string, secrets: readonly string[], at: number): string;
  headers(event: E, signature: string): Record<string, string>;
}

export interface DeliveryKnobs {
  /** Keep events until they are released. */
  hold: boolean;
  /** Additional deliveries of each event, at the same moment. */
  duplicates: number;
  /** Held events are released last first. */
  reverse: boolean;
  delay_ms: number;
  /** Event types that are lost on the way, for ever; `*` is all: the rail has switched the address off. */
  drop: readonly string[];
  /** Signs with a secret that nobody has. */
  forge: boolean;
}

export interface Delivery {
  readonly event_id: string;
  readonly type: string;
  /** Status of each attempt; 0 without an answer. */
  readonly codes: number[];
  readonly answers: string[];
  delivered: boolean;
}

export class Webhooks<E extends { readonly id: string; readonly type: string }> {
  readonly events: E[] = [];
  readonly deliveries: Delivery[] = [];
  knobs: DeliveryKnobs = { hold: false, duplicates: 0, reverse: false, delay_ms: 0, drop: [], forge: false };
  url: string | null = null;
  secrets: readonly string[] = [];
  private held: E[] = [];
  private readonly timers = new Set<NodeJS.Timeout>();
  private closed = false;
  private readonly wire: Wire<E>;

  constructor(wire: Wire<E>) {
    this.wire = wire;
  }

  take(event: E): void {
    this.events.push(event);
    if (this.knobs.drop.includes(event.type) || this.knobs.drop.includes('*')) return;
    if (this.knobs.hold) this.held.push(event);
    else this.start(event);
  }

  release(): number {
    const events = this.knobs.reverse ? this.held.reverse() : this.held;
    this.held = [];
    for (const event of events) this.start(event);
    return events.length;
  }

  /** Delivers an event once more, as a person can in the rail's dashboard. */
  resend(event_id: string, times: number): number {
    const event = this.events.find(({ id }) => id === event_id);
    if (event === undefined) return 0;
    for (let i = 0; i < times; i++) this.later(0, this.begin(event), event, 0);
    return times;
  }

  private start(event: E): void {
    for (let i = 0; i <= this.knobs.duplicates; i++) {
      this.later(this.knobs.delay_ms, this.begin(event), event, 0);
    }
  }

  private begin(event: E): Delivery {
    const delivery: Delivery = {
      event_id: event.id,
      type: event.type,
      codes: [],
      answers: [],
      delivered: false,
    };
    this.deliveries.push(delivery);
    return delivery;
  }

  private later(ms: number, delivery: Delivery, event: E, tries: number): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void this.deliver(delivery, event, tries);
    }, ms);
    this.timers.add(timer);
  }

  /** What the rail would send as the signature of these bytes. */
  sign(body: string, at = Math.floor(Date.now() / 1_000)): string {
    const secrets = this.knobs.forge ? ['a secret that nobody has'] : this.secrets;
    return this.wire.sign(body, secrets, at);
  }

  private async deliver(delivery: Delivery, event: E, tries: number): Promise<void> {
    if (this.closed || this.url === null) return;
    const body = this.wire.body(event);
    let code = 0;
    try {
      const reply = await fetch(this.url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...this.wire.headers(event, this.sign(body)) },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      code = reply.status;
      delivery.answers.push(await reply.text());
    } catch {
      // Refused, reset or too slow: try again.
    }
    delivery.codes.push(code);
    delivery.delivered = code >= 200 && code < 300;
    if (delivery.delivered || tries + 1 >= TRIES_MAX || this.closed) return;
    this.later(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number, delivery, event, tries + 1);
  }

  close(): void {
    this.closed = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
  }
}
