// Limits shared by all gateway processes through Redis. When Redis does not answer, each process keeps to its share of
// every limit (limit ÷ processes last seen) in its own memory, so that limits stay bounded and calls are still
// admitted.
import { Redis } from 'ioredis';
import { type Log, newUlid, nowMs } from '../kernel/index.ts';
import { requestsOf } from './bucket.ts';
import {
  gaugesOf,
  inTime,
  type Keys,
  keysOf,
  limitArgs,
  refusalOf,
  rejectedKey,
  type Scripts,
} from './exchange.ts';
import { type MemoryLimitStore, openMemoryLimits } from './memory.ts';
import { countedHours, RejectionCounts, sumRejections } from './rejections.ts';
import { BEAT, ENTER, LOOK, RENEW, SPEND } from './scripts.ts';
import { shareOf } from './subject.ts';
import {
  type Gauges,
  isRefusal,
  type LimitName,
  type LimitRefusal,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  type LimitView,
  type Rejections,
} from './types.ts';

/** How often running calls renew their place within a lease. */
const RENEWALS = 3;
/** Time between heartbeats, and so until a Redis that is back is noticed. */
const BEAT_MS = 1_000;
const PROCESS_MS = 5_000;
/** Until Redis has said how many processes there are. */
const ASSUMED_PROCESSES = 2;
const PROCESSES = 'svc:limits:processes';
/** Counts of refusals are kept in Redis a little longer than the 24 hours that are shown. */
const REJECTED_SECONDS = 26 * 3_600;

interface RedisLimitsOptions {
  readonly url: string;
  readonly log: Log;
  /** A place is given back this long after its process died; 15 s by default. */
  readonly lease_ms?: number;
}

class RedisLimits implements LimitStore {
  readonly #redis: Redis & Scripts;
  readonly #log: Log;
  readonly #lease_ms: number;
  readonly #process = newUlid();
  readonly #local: MemoryLimitStore = openMemoryLimits();
  readonly #running = new Set<SharedSlot>();
  readonly #timers: NodeJS.Timeout[];
  /** What was refused here since the last beat. */
  readonly #rejected = new RejectionCounts();
  #processes = ASSUMED_PROCESSES;
  #lost = true;
  #closed = false;

  constructor({ url, log, lease_ms = 15_000 }: RedisLimitsOptions) {
    this.#log = log;
    this.#lease_ms = lease_ms;
    this.#redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      maxRetriesPerRequest: 0,
      connectTimeout: 2_000,
      retryStrategy: (tries) => Math.min(100 * tries, BEAT_MS),
    }) as Redis & Scripts;
    // Each lost connection is logged once, by `#lose`.
    this.#redis.on('error', () => {});
    this.#redis.on('ready', () => void this.#beat());
    this.#redis.on('close', () => this.#lose('the connection closed'));
    this.#redis.defineCommand('svcEnter', { numberOfKeys: 6, lua: ENTER });
    this.#redis.defineCommand('svcSpend', { numberOfKeys: 2, lua: SPEND });
    this.#redis.defineCommand('svcLook', { numberOfKeys: 5, lua: LOOK });
    this.#redis.defineCommand('svcBeat', { numberOfKeys: 1, lua: BEAT });
    this.#redis.defineCommand('svcRenew', { numberOfKeys: 2, lua: RENEW });
    this.#timers = [
      setInterval(() => void this.#beat(), BEAT_MS).unref(),
      setInterval(() => void this.#renew(), lease_ms / RENEWALS).unref(),
    ];
  }

  get mode(): LimitStore['mode'] {
    return this.#lost ? 'local_share' : 'exact';
  }

  get processes(): number {
    return this.#processes;
  }

  get lost(): boolean {
    return this.#lost;
  }

  get redis(): Scripts {
    return this.#redis;
  }

  async start(): Promise<void> {
    await this.#redis
      .connect()
      .catch((error: Error) => this.#log.warn({ reason: error.message }, 'no Redis'));
    await this.#beat();
  }

  enter(subject: LimitSubject): LimitSlot | LimitRefusal | Promise<LimitSlot | LimitRefusal> {
    return this.#lost ? this.#enterLocally(subject) : this.#enterShared(subject);
  }

  async look(subject: LimitSubject): Promise<LimitView> {
    if (this.#lost) return this.#local.look(this.shareOf(subject));
    const keys = keysOf(subject);
    const { key_rates, plan_rates } = subject;
    const answer = await inTime(
      this.#redis.svcLook(
        ...keys.requests,
        ...keys.tokens,
        keys.running[0],
        ...limitArgs([key_rates.rpm, plan_rates.rpm, key_rates.tpm, plan_rates.tpm]),
      ),
    );
    const { requests, tokens } = gaugesOf(subject, answer.slice(0, 4) as string[]);
    return {
      rpm_remaining: requests?.remaining ?? null,
      tpm_remaining: tokens?.remaining ?? null,
      concurrency_in_use: answer[4],
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await inTime(this.#redis.zrem(PROCESSES, this.#process)).catch(() => {});
    this.#redis.disconnect();
  }

  async rejections({ plan }: Pick<LimitSubject, 'plan'>): Promise<Rejections> {
    // Includes refusals that have not been sent to Redis yet.
    const here = this.#rejected.of(plan, nowMs());
    if (this.#lost) return here;
    const hours = countedHours(nowMs()).map((hour) => inTime(this.#redis.hgetall(rejectedKey(plan, hour))));
    const found = (await Promise.all(hours)).map((counts) => ({
      rpm: Number(counts['rpm'] ?? 0),
      tpm: Number(counts['tpm'] ?? 0),
      concurrency: Number(counts['concurrency'] ?? 0),
    }));
    return sumRejections([here, ...found]);
  }

  /** Counts a refusal in memory; counts are written to Redis once a second, however many there are. */
  refused({ plan }: LimitSubject, limit: LimitName): void {
    this.#rejected.count(plan, limit, nowMs());
  }

  /** Called by a slot whose call to Redis failed. */
  failed(error: unknown): void {
    this.#lose((error as Error).message);
  }

  /** A place in this process's own store for a call that runs already. */
  adopt(subject: LimitSubject): LimitSlot {
    return this.#local.adopt(this.shareOf(subject));
  }

  forget(slot: SharedSlot, keys: Keys, id: string): void {
    this.#running.delete(slot);
    if (this.#lost) return;
    // Two commands of one pipeline. If one is lost, the lease frees the place later.
    this.#redis.zrem(keys.running[0], id).catch(() => {});
    this.#redis.zrem(keys.running[1], id).catch(() => {});
  }

  /** The part of every limit that this process may grant by itself; at least one where the limit is not zero. */
  shareOf(subject: LimitSubject): LimitSubject {
    return shareOf(subject, this.#processes);
  }

  async #enterShared(subject: LimitSubject): Promise<LimitSlot | LimitRefusal> {
    const keys = keysOf(subject);
    const id = newUlid();
    const { key_rates, plan_rates } = subject;
    let answer: [string, string, string, string, string];
    try {
      answer = await inTime(
        this.#redis.svcEnter(
          ...keys.requests,
          ...keys.tokens,
          ...keys.running,
          ...limitArgs([key_rates.rpm, plan_rates.rpm, key_rates.tpm, plan_rates.tpm]),
          ...limitArgs([key_rates.concurrency, plan_rates.concurrency]),
          id,
          this.#lease_ms,
        ),
      );
    } catch (error) {
      this.#lose((error as Error).message);
      return this.#enterLocally(subject);
    }
    const [refused, ...levels] = answer;
    const gauges = gaugesOf(subject, levels);
    if (refused !== '') {
      const refusal = refusalOf(subject, refused, { levels, units: 1, gauges });
      this.refused(subject, refusal.limit);
      return refusal;
    }
    const slot = new SharedSlot(this, { subject, keys, id, gauges, local: null });
    this.#running.add(slot);
    return slot;
  }

  #enterLocally(subject: LimitSubject): LimitSlot | LimitRefusal {
    const entered = this.#local.enter(this.shareOf(subject));
    if (isRefusal(entered)) {
      this.refused(subject, entered.limit);
      return entered;
    }
    const { gauges } = entered;
    const slot = new SharedSlot(this, {
      subject,
      keys: keysOf(subject),
      id: newUlid(),
      gauges,
      local: entered,
    });
    this.#running.add(slot);
    return slot;
  }

  #lose(reason: string): void {
    if (this.#lost || this.#closed) return;
    this.#lost = true;
    // Calls that run already count against this process's share.
    for (const slot of this.#running) slot.moveHere();
    this.#log.warn({ reason, processes: this.#processes }, 'Redis is lost: limits are kept by local share');
  }

  async #beat(): Promise<void> {
    if (this.#closed || this.#redis.status !== 'ready') return;
    try {
      this.#processes = Math.max(1, await inTime(this.#redis.svcBeat(PROCESSES, this.#process, PROCESS_MS)));
    } catch (error) {
      this.#lose((error as Error).message);
      return;
    }
    this.#sendRejected();
    if (!this.#lost) return;
    await this.#renew(true);
    this.#lost = false;
    for (const slot of this.#running) slot.moveBack();
    this.#log.info({ processes: this.#processes }, 'limits are kept in Redis');
  }

  #sendRejected(): void {
    for (const { plan, hour, limit, count } of this.#rejected.take()) {
      const key = rejectedKey(plan, hour);
      // These counts enforce nothing, so those that a failing Redis does not take are lost.
      this.#redis.hincrby(key, limit, count).catch(() => {});
      this.#redis.expire(key, REJECTED_SECONDS).catch(() => {});
    }
  }

  /**
   * Lengthens the leases of all running calls; `back`: also for a Redis that came back empty, which then knows what is
   * running.
   */
  async #renew(back = false): Promise<void> {
    if ((this.#lost && !back) || this.#running.size === 0) return;
    const groups = new Map<string, { keys: Keys; ids: string[] }>();
    for (const { keys, id } of this.#running) {
      const group = groups.get(keys.running[0]);
      if (group === undefined) groups.set(keys.running[0], { keys, ids: [id] });
      else group.ids.push(id);
    }
    const sent = [...groups.values()].map(({ keys, ids }) =>
      inTime(this.#redis.svcRenew(...keys.running, this.#lease_ms, ...ids)),
    );
    await Promise.all(sent).catch((error: unknown) => this.failed(error));
  }
}

class SharedSlot implements LimitSlot {
  readonly keys: Keys;
  readonly id: string;
  readonly #store: RedisLimits;
  readonly #subject: LimitSubject;
  gauges: Gauges;
  /** Its place in this process's store while Redis is lost. */
  #local: LimitSlot | null;
  #debited = 0;
  #left = false;

  constructor(
    store: RedisLimits,
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
    this.#take('requests', requests, true).catch((error: unknown) => this.#store.failed(error));
  }

  async spend(tokens: number): Promise<LimitRefusal | null> {
    let refusal: LimitRefusal | null;
    if (this.#store.lost) refusal = await this.#spendHere(tokens);
    else {
      try {
        refusal = await this.#spendShared(tokens);
      } catch (error) {
        this.#store.failed(error);
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
    else this.#take('tokens', difference, true).catch((error: unknown) => this.#store.failed(error));
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
    const tokens_now = gaugesOf(this.#subject, ['', '', ...levels]).tokens;
    this.gauges = { requests: this.gauges.requests, tokens: tokens_now };
    if (refused === '') return null;
    return refusalOf(this.#subject, refused, {
      levels: ['', '', ...levels],
      units: tokens,
      gauges: this.gauges,
    });
  }

  #take(kind: 'requests' | 'tokens', units: number, whatever: boolean): Promise<[string, string, string]> {
    const limit = kind === 'requests' ? 'rpm' : 'tpm';
    const { key_rates, plan_rates } = this.#subject;
    const limits = limitArgs([key_rates[limit], plan_rates[limit]]);
    return inTime(this.#store.redis.svcSpend(...this.keys[kind], ...limits, units, whatever ? 1 : 0));
  }
}

/**
 * The store of an installation with several gateway processes. Never throws: without Redis it starts with its local
 * share.
 */
export async function openRedisLimits(options: RedisLimitsOptions): Promise<LimitStore> {
  const store = new RedisLimits(options);
  await store.start();
  return store;
}
