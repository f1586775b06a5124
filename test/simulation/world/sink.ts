// A caller's connection: what reached it, and how it ended.
import type { Actor, Loop } from '../engine/loop.ts';

type End = 'ended' | 'destroyed' | 'left';

/** The sink of one try of a call. Some callers read slowly. */
export class CallerSink {
  gone = false;
  /** The gateway that it is sent to. */
  gateway: Actor | null = null;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  status = 0;
  request_id: string | null = null;
  text = '';
  readonly over: Promise<End>;
  #end: (how: End) => void = () => {};
  readonly #loop: Loop;
  readonly #is_slow: boolean;

  constructor(loop: Loop, is_slow: boolean) {
    this.#loop = loop;
    this.#is_slow = is_slow;
    this.over = new Promise((done) => {
      this.#end = done;
    });
  }

  head(status: number, headers: string[]): void {
    if (this.gone) return;
    this.status = status;
    const at = headers.findIndex((name) => name.toLowerCase() === 'x-svc-request-id');
    if (at >= 0) this.request_id = headers[at + 1] ?? null;
  }

  write(bytes: Buffer | string): boolean {
    if (this.gone) return true;
    this.text += bytes.toString();
    if (!this.#is_slow || this.#loop.draw.unit() < 0.5) return true;
    this.#loop.later('reads on', this.#loop.draw.unit() * 30, () => this.onDrain?.());
    return false;
  }

  end(bytes: Buffer | string): void {
    if (this.gone) return;
    this.text += bytes.toString();
    this.#end('ended');
  }

  destroy(): void {
    this.#end('destroyed');
  }

  /** The caller hangs up: the gateway hears of it as soon as it does anything. */
  leave(): void {
    if (this.gone || this.gateway === null) return;
    this.#end('left');
    const hears = () => {
      this.gone = true;
      this.onGone?.();
    };
    this.#loop.later('hears that a caller left', this.#loop.draw.unit(), hears, this.gateway);
  }

  /** The gateway has died: nothing more comes. */
  lose(): void {
    this.gone = true;
    this.#end('destroyed');
  }
}
