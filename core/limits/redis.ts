// Limits shared by all gateway processes through Redis. When Redis does not answer, each process keeps to its share of
// every limit (limit ÷ processes last seen) in its own memory, so that limits stay bounded and calls are still
// admitted.
import { type Log, newUlid, nowMs } from '../kernel/index.ts';
import { faultOf, type Link, linkTo } from './connect.ts';
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
import { SharedSlot } from './shared-slot.ts';
import { shareOf } from './subject.ts';
import {
  isRefusal,
  type LimitName,
  type LimitRefusal,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  type LimitView,
  type RedisFigures,
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
/** What Redis answers to a login that it does not accept. */
const isRefusedBy = (fault: string) =>
  /^(WRONGPASS|NOAUTH|NOPERM|ERR (?:.*AUTH|invalid password))/.test(fault);

interface RedisLimitsOptions {
  readonly url: string;
  readonly log: Log;
  /** A place is given back this long after its process died; 15 s by default. */
  readonly lease_ms?: number;
}

class RedisLimits implements LimitStore {
  readonly #link: Link;
  readonly #redis: Link['redis'];
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
  /** What Redis was last said to be lost for. */
  #reported = '';
  /** The key on which it was lost: in a cluster the node of that key must answer before limits are exact again. */
  #lost_key: string | null = null;

  constructor({ url, log, lease_ms = 15_000 }: RedisLimitsOptions) {
    this.#log = log;
    this.#lease_ms = lease_ms;
    this.#link = linkTo(url);
    this.#redis = this.#link.redis;
    this.#redis.on('ready', () => void this.#beat());
    this.#redis.on('close', () => this.#lose(this.#link.fault() ?? 'the connection closed'));
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

  get redis_figures(): RedisFigures {
    return this.#link.figures;
  }

  get lost(): boolean {
    return this.#lost;
  }

  get scripts(): Scripts {
    return this.#link.scripts;
  }

  /** @throws Error when the address is of another form than what it leads to. */
  async start(): Promise<void> {
    await this.#link.open().catch((error: unknown) => this.#report(this.#link.fault() ?? faultOf(error)));
    const misfit = await this.#link.misfit();
    if (misfit !== null) throw new Error(misfit);
    await this.#beat();
  }

  enter(subject: LimitSubject): LimitSlot | LimitRefusal | Promise<LimitSlot | LimitRefusal> {
    return this.#lost ? this.#enterLocally(subject) : this.#enterShared(subject);
  }

  async look(subject: LimitSubject): Promise<LimitView> {
    if (this.#lost) return this.#local.look(this.shareOf(subject));
    const keys = keysOf(subject);
    const answer = await inTime(
      this.#link.scripts.look(
        [...keys.requests, ...keys.tokens, keys.running[0] as string],
        [...limitArgs(subject, 'rpm'), ...limitArgs(subject, 'tpm')],
      ),
    );
    const { requests, tokens } = gaugesOf(subject, answer.slice(0, -1) as string[]);
    return {
      rpm_remaining: requests?.remaining ?? null,
      tpm_remaining: tokens?.remaining ?? null,
      concurrency_in_use: answer.at(-1) as number,
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
  failed(error: unknown, { running: [key] }: Keys): void {
    this.#lose(faultOf(error), key as string);
  }

  /** A place in this process's own store for a call that runs already. */
  adopt(subject: LimitSubject): LimitSlot {
    return this.#local.adopt(this.shareOf(subject));
  }

  forget(slot: SharedSlot, keys: Keys, id: string): void {
    this.#running.delete(slot);
    if (this.#lost) return;
    // Commands of one pipeline. If one is lost, the lease frees the place later.
    for (const key of keys.running) this.#redis.zrem(key, id).catch(() => {});
  }

  /** The part of every limit that this process may grant by itself; at least one where the limit is not zero. */
  shareOf(subject: LimitSubject): LimitSubject {
    return shareOf(subject, this.#processes);
  }

  async #enterShared(subject: LimitSubject): Promise<LimitSlot | LimitRefusal> {
    const keys = keysOf(subject);
    const id = newUlid();
    let answer: [string, ...string[]];
    try {
      answer = await inTime(
        this.#link.scripts.enter(
          [...keys.requests, ...keys.tokens, ...keys.running],
          [
            ...limitArgs(subject, 'rpm'),
            ...limitArgs(subject, 'tpm'),
            ...limitArgs(subject, 'concurrency'),
            id,
            this.#lease_ms,
          ],
        ),
      );
    } catch (error) {
      this.failed(error, keys);
      return this.#enterLocally(subject);
    }
    const [refused, ...levels] = answer;
    const gauges = gaugesOf(subject, levels);
    if (refused !== '') {
      // Only `rpm` and `concurrency` refuse here: the levels that count are those of requests, which come first.
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

  #lose(reason: string, key: string | null = null): void {
    if (this.#lost || this.#closed) return;
    this.#lost = true;
    this.#lost_key = key;
    // Calls that run already count against this process's share.
    for (const slot of this.#running) slot.moveHere();
    this.#report(reason);
  }

  /** Logged once, and again when Redis says something else, as that a password is wrong. */
  #report(reason: string): void {
    if (reason === this.#reported || this.#closed) return;
    this.#reported = reason;
    this.#log.warn({ reason, processes: this.#processes }, 'Redis is lost: limits are kept by local share');
  }

  async #beat(): Promise<void> {
    if (this.#closed) return;
    if (this.#redis.status !== 'ready') {
      const fault = this.#link.fault();
      if (this.#lost && fault !== null && isRefusedBy(fault)) this.#report(fault);
      return;
    }
    try {
      if (this.#lost) await this.#ask();
      this.#processes = Math.max(
        1,
        await inTime(this.#link.scripts.beat([PROCESSES], [this.#process, PROCESS_MS])),
      );
    } catch (error) {
      const reason = faultOf(error);
      if (this.#lost) this.#report(reason);
      else this.#lose(reason, PROCESSES);
      return;
    }
    this.#sendRejected();
    if (!this.#lost || !(await this.#renew(true))) return;
    this.#lost = false;
    this.#lost_key = null;
    this.#reported = '';
    for (const slot of this.#running) slot.moveBack();
    this.#log.info({ processes: this.#processes }, 'limits are kept in Redis');
  }

  /** @throws Error while what Redis was lost for is not over. */
  async #ask(): Promise<void> {
    const misfit = await this.#link.misfit();
    if (misfit !== null) throw new Error(misfit);
    await this.#link.askAll();
    if (this.#lost_key !== null) await inTime(this.#redis.exists(this.#lost_key));
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
   * Lengthens the leases of all running calls, and returns whether Redis took it; `back`: also for a Redis that came back
   * empty, which then knows what is running.
   */
  async #renew(back = false): Promise<boolean> {
    if (this.#lost && !back) return false;
    const groups = new Map<string, { keys: Keys; ids: string[] }>();
    for (const { keys, id } of this.#running) {
      // Calls of one key differ in their bounds while those of its project change.
      const name = keys.running.join(' ');
      const group = groups.get(name);
      if (group === undefined) groups.set(name, { keys, ids: [id] });
      else group.ids.push(id);
    }
    const sent = [...groups.values()].map(async ({ keys, ids }) => {
      try {
        await inTime(this.#link.scripts.renew(keys.running, [this.#lease_ms, ...ids]));
        return true;
      } catch (error) {
        this.failed(error, keys);
        return false;
      }
    });
    return (await Promise.all(sent)).every(Boolean);
  }
}

/**
 * The store of an installation with several gateway processes. Without Redis, or with a password that it refuses, it starts
 * with its local share. @throws Error when the address has none of the forms, or another one than what it leads to.
 */
export async function openRedisLimits(options: RedisLimitsOptions): Promise<LimitStore> {
  const store = new RedisLimits(options);
  try {
    await store.start();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}
