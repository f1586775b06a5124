// The place of one call whose limits are kept in Redis, and in its process while Redis is lost.
import { requestsOf } from './bucket.ts';
import { gaugeOfLevels, inTime, type Keys, limitArgs, refusalOf, type Scripts } from './exchange.ts';
import type { Gauges, LimitName, LimitRefusal, LimitSlot, LimitSubject } from './types.ts';

/** The store as a slot sees it. */
interface SharedStore {
  readonly scripts: Scripts;
  readonly lost: boolean;
  /** A command for `keys` failed. */
  failed(error: unknown, keys: Keys): void;
  refused(subject: LimitSubject, limit: LimitName): void;
  /** A place in this process's own store for a call that runs already. */
  adopt(subject: LimitSubject): LimitSlot;
  forget(slot: SharedSlot, keys: Keys, id: string): void;
}

export class SharedSlot implements LimitSlot {
  readonly keys: Keys;
  readonly id: string;
  readonly #store: SharedStore;
  readonly #subject: LimitSubject;
  gauges: Gauges;
  /** Its place in this process's store while Redis is lost. */
  #local: LimitSlot | null;
  #debited = 0;
  #left = false;

  constructor(
    store: SharedStore,
    of: { subject: LimitSubject; keys: Keys; id: string; gauges: Gauges; local: LimitSlot | null },
  ) {
    this.#store = store;
    this.#subject = of.subject;
    this.keys = of.keys;
    this.id = of.id;
    this.gauges = of.gauges;
    this.#local = of.local;
  }

  weigh(bytes: number): void {
    const requests = requestsOf(bytes);
    if (requests === 0) return;
    if (this.#store.lost) {
      this.moveHere();
      this.#local?.weigh(bytes);
      return;
    }
    this.#take('requests', requests, true).catch((error: unknown) => this.#store.failed(error, this.keys));
  }

  async spend(tokens: number): Promise<LimitRefusal | null> {
    let refusal: LimitRefusal | null;
    if (this.#store.lost) refusal = await this.#spendHere(tokens);
    else {
      try {
        refusal = await this.#spendShared(tokens);
      } catch (error) {
        this.#store.failed(error, this.keys);
        refusal = await this.#spendHere(tokens);
      }
    }
    if (refusal === null) this.#debited += tokens;
    else this.#store.refused(this.#subject, refusal.limit);
    return refusal;
  }

  settle(tokens: number): void {
    const difference = tokens - this.#debited;
    this.#debited = tokens;
    if (difference === 0) return;
    if (this.#store.lost) this.#local?.settle(tokens);
    else
      this.#take('tokens', difference, true).catch((error: unknown) => this.#store.failed(error, this.keys));
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#local?.leave();
    this.#local = null;
    this.#store.forget(this, this.keys, this.id);
  }

  moveHere(): void {
    if (!this.#left) this.#local ??= this.#store.adopt(this.#subject);
  }

  moveBack(): void {
    this.#local?.leave();
    this.#local = null;
  }

  async #spendHere(tokens: number): Promise<LimitRefusal | null> {
    this.moveHere();
    if (this.#local === null) return null;
    const refusal = await this.#local.spend(tokens);
    this.gauges = this.#local.gauges;
    return refusal;
  }

  async #spendShared(tokens: number): Promise<LimitRefusal | null> {
    const [refused, ...levels] = await this.#take('tokens', tokens, false);
    this.gauges = {
      requests: this.gauges.requests,
      tokens: gaugeOfLevels(this.#subject, 'tpm', levels),
    };
    if (refused === '') return null;
    return refusalOf(this.#subject, refused, { levels, units: tokens, gauges: this.gauges });
  }

  #take(kind: 'requests' | 'tokens', units: number, whatever: boolean): Promise<[string, ...string[]]> {
    const limits = limitArgs(this.#subject, kind === 'requests' ? 'rpm' : 'tpm');
    return inTime(this.#store.scripts.spend(this.keys[kind], [...limits, units, whatever ? 1 : 0]));
  }
}
