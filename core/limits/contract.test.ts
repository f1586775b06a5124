// One contract, two stores: whatever holds for a process alone holds for processes that share a Redis.
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startRedis } from '../../test/support/redis.ts';
import { createLog } from '../kernel/index.ts';
import {
  isRefusal,
  type LimitRefusal,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  openMemoryLimits,
  openRedisLimits,
  type Rates,
} from './index.ts';
import { changed, siblingOf, subjectWith } from './testing.ts';

const redis = await startRedis();
const log = createLog('error', 'test');
const shared = [
  await openRedisLimits({ url: redis.url, log }),
  await openRedisLimits({ url: redis.url, log }),
];
afterAll(async () => {
  for (const store of shared) await store.close();
  await redis.stop();
});
const memory = openMemoryLimits();

const subjectOf = (key: Partial<Rates>, plan: Partial<Rates> = {}) => subjectWith({ key, plan });

async function slotOf(store: LimitStore, subject: LimitSubject): Promise<LimitSlot> {
  const entered = await store.enter(subject);
  if (isRefusal(entered)) throw new Error(`refused by ${entered.limit} of the ${entered.scope}`);
  return entered;
}

async function refusalOf(store: LimitStore, subject: LimitSubject): Promise<LimitRefusal> {
  const entered = await store.enter(subject);
  if (!isRefusal(entered)) throw new Error('entered');
  return entered;
}

// A Redis that a busy machine keeps waiting for a quarter of a second is left, as it must be, and limits are halves for a
// moment: noise lets fewer in, never more, so that one good run of three is proof.
describe.each([
  ['in memory', [memory, memory]],
  ['in Redis', shared],
] as const)('limits %s', { retry: 2 }, (_name, stores) => {
  const [store, other] = stores as readonly [LimitStore, LimitStore];
  beforeEach(() => expect.poll(() => stores.map(({ mode }) => mode)).toEqual(['exact', 'exact']));

  test('of 400 calls at once, over two stores, exactly rpm enter', async () => {
    const subject = subjectOf({ rpm: 100 });
    const started = performance.now();
    const entered = await Promise.all(
      Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? store : other).enter(subject)),
    );
    const refilled = ((performance.now() - started) * 100) / 60_000;
    const slots = entered.filter((one) => !isRefusal(one));
    expect(slots.length).toBeGreaterThanOrEqual(100);
    expect(slots.length).toBeLessThanOrEqual(100 + Math.floor(refilled));
    expect(entered.find(isRefusal)).toMatchObject({ limit: 'rpm', scope: 'key', limit_value: 100 });
  });

  test('refused calls are counted by the limit that refused them, over all stores', async () => {
    const subject = subjectOf({ rpm: 5, tpm: 100 }, { concurrency: 2 });
    const first = await slotOf(store, subject);
    const second = await slotOf(other, subject);
    expect((await refusalOf(store, subject)).limit).toBe('concurrency');
    expect((await refusalOf(other, subject)).limit).toBe('concurrency');
    expect(await first.spend(100)).toBe(null);
    expect((await second.spend(50))?.limit).toBe('tpm');
    const counted = { rpm: 0, tpm: 1, concurrency: 2 };
    await expect.poll(() => store.rejections(subject), { timeout: 10_000 }).toEqual(counted);
    await expect.poll(() => other.rejections(subject), { timeout: 10_000 }).toEqual(counted);
    expect(await store.rejections({ plan: 'nobody' })).toEqual({ rpm: 0, tpm: 0, concurrency: 0 });
    for (const slot of [first, second]) slot.leave();
  });

  test('a refused call takes nothing: neither of the key when the plan refuses, nor the other way round', async () => {
    // So slow a refill that nothing comes back meanwhile.
    const subject = subjectOf({ rpm: 7, concurrency: 10 }, { concurrency: 1 });
    const slot = await slotOf(store, subject);
    for (let i = 0; i < 5; i++) {
      expect(await refusalOf(other, subject)).toMatchObject({ limit: 'concurrency', scope: 'plan' });
    }
    expect(await store.look(subject)).toMatchObject({ rpm_remaining: 6, concurrency_in_use: 1 });
    slot.leave();
  });

  test('a place is taken until its call leaves, and leaving twice gives it back once', async () => {
    const subject = subjectOf({ concurrency: 2 });
    const first = await slotOf(store, subject);
    const second = await slotOf(other, subject);
    expect(await refusalOf(store, subject)).toMatchObject({ limit: 'concurrency', limit_value: 2 });
    first.leave();
    first.leave();
    await expect.poll(async () => (await store.look(subject)).concurrency_in_use).toBe(1);
    const third = await slotOf(other, subject);
    expect(await refusalOf(store, subject)).toMatchObject({ limit: 'concurrency' });
    second.leave();
    third.leave();
  });

  test('tokens are debited by estimate and corrected by what was used, below zero too', async () => {
    const subject = subjectOf({ tpm: 600 });
    const slot = await slotOf(store, subject);
    const began = performance.now();
    expect(await slot.spend(400)).toBeNull();
    expect(slot.gauges.tokens).toMatchObject({ limit: 600, remaining: 200 });
    slot.settle(1_000);
    const next = await slotOf(other, subject);
    await expect.poll(async () => (await other.look(subject)).tpm_remaining).toBe(0);
    const refusal = await next.spend(1);
    expect(refusal).toMatchObject({ limit: 'tpm', scope: 'key', limit_value: 600 });
    // 400 below zero and one token: at ten tokens a second about forty seconds, less what has passed.
    expect(refusal?.reset_ms).toBeGreaterThan(40_000 - (performance.now() - began));
    expect(refusal?.reset_ms).toBeLessThanOrEqual(40_100);
    slot.leave();
    next.leave();
  });

  test('a call that used less than estimated gives tokens back', async () => {
    const subject = subjectOf({ tpm: 1_000 });
    const slot = await slotOf(store, subject);
    expect(await slot.spend(900)).toBeNull();
    slot.settle(100);
    await expect.poll(async () => (await store.look(subject)).tpm_remaining).toBeGreaterThanOrEqual(900);
    slot.leave();
  });

  test('a prompt larger than a whole minute passes a full bucket and no other', async () => {
    const subject = subjectOf({ tpm: 100 });
    const slot = await slotOf(store, subject);
    expect(await slot.spend(5_000)).toBeNull();
    expect(await slot.spend(1)).toMatchObject({ limit: 'tpm' });
    slot.leave();
  });

  test('the bucket refills continuously', async () => {
    const subject = subjectOf({ rpm: 1_200 });
    const started = performance.now();
    let entered = 0;
    const enter = async () => {
      if (!isRefusal(await store.enter(subject))) entered++;
      return entered;
    };
    await Promise.all(Array.from({ length: 1_200 }, enter));
    await expect.poll(enter, { interval: 5 }).toBeGreaterThanOrEqual(1_210);
    // Ten more than the capacity: half a second at twenty a second.
    expect(performance.now() - started).toBeGreaterThanOrEqual(490);
  });

  test('a body takes a request for each megabyte, if need be of those to come', async () => {
    const subject = subjectOf({ rpm: 10 });
    const slot = await slotOf(store, subject);
    slot.weigh(1_048_576);
    await expect.poll(async () => (await store.look(subject)).rpm_remaining).toBe(9);
    slot.weigh(12 * 1_048_576 + 1);
    await expect.poll(async () => (await store.look(subject)).rpm_remaining).toBe(0);
    const refused = await refusalOf(store, subject);
    expect(refused).toMatchObject({ limit: 'rpm', limit_value: 10 });
    // Three more than there were, and the one that is asked for.
    expect(refused?.reset_ms).toBeGreaterThan(18_000);
    slot.leave();
  });

  test('a limit of zero refuses everything, and no limit refuses nothing', async () => {
    expect(await refusalOf(store, subjectOf({ rpm: 0 }))).toMatchObject({ limit: 'rpm', limit_value: 0 });
    expect(await refusalOf(store, subjectOf({ concurrency: 0 }))).toMatchObject({ limit: 'concurrency' });
    const slot = await slotOf(store, subjectOf({}));
    expect(await slot.spend(1_000_000_000)).toBeNull();
    expect(slot.gauges).toEqual({ requests: null, tokens: null });
    slot.leave();
  });

  test("a limit is the key's own where set, and never above its plan's", async () => {
    const subject = subjectOf({ rpm: 30, concurrency: 1_000 }, { rpm: 300, tpm: 1_000_000, concurrency: 20 });
    const began = performance.now();
    const slots = await Promise.all(Array.from({ length: 20 }, () => slotOf(store, subject)));
    expect(await refusalOf(other, subject)).toMatchObject({
      limit: 'concurrency',
      scope: 'plan',
      limit_value: 20,
    });
    for (const slot of slots) slot.leave();
    await expect.poll(async () => (await store.look(subject)).concurrency_in_use).toBe(0);
    // Ten more, and one each two seconds that all this takes on a busy machine.
    let more = 0;
    let refused: LimitRefusal | null = null;
    while (refused === null) {
      const entered = await other.enter(subject);
      if (isRefusal(entered)) refused = entered;
      else {
        more++;
        entered.leave();
      }
    }
    expect(more).toBeGreaterThanOrEqual(10);
    expect(more).toBeLessThanOrEqual(10 + Math.ceil((performance.now() - began) / 2_000));
    expect(refused).toMatchObject({ limit: 'rpm', scope: 'key', limit_value: 30 });
  });

  test('headers show the tighter of key and plan', async () => {
    const subject = subjectOf({ rpm: 100, tpm: 50 }, { rpm: 10, tpm: 5_000 });
    const slot = await slotOf(store, subject);
    expect(slot.gauges.requests).toMatchObject({ limit: 10, remaining: 9 });
    expect(slot.gauges.tokens).toMatchObject({ limit: 50, remaining: 50 });
    slot.leave();
  });

  test('the limits of a project bound all its keys together: of 300 calls at once exactly rpm enter', async () => {
    const first = subjectWith({ project: { rpm: 100 } });
    const keys = [first, siblingOf(first), siblingOf(first)];
    const other_project = subjectWith({});
    const started = performance.now();
    const entered = await Promise.all(
      Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? store : other).enter(keys[i % 3] as LimitSubject)),
    );
    const refilled = ((performance.now() - started) * 100) / 60_000;
    const served = entered.filter((one) => !isRefusal(one)).length;
    expect(served).toBeGreaterThanOrEqual(100);
    expect(served).toBeLessThanOrEqual(100 + Math.floor(refilled));
    expect(entered.find(isRefusal)).toMatchObject({
      ...{ limit: 'rpm', scope: 'project', limit_value: 100 },
      subject: first.bounds[1]?.subject,
    });
    (await slotOf(store, other_project)).leave();
  });

  test.each([
    ['rpm', 'key'],
    ['rpm', 'project'],
    ['rpm', 'plan'],
    ['concurrency', 'key'],
    ['concurrency', 'project'],
    ['concurrency', 'plan'],
  ] as const)(
    'the smallest %s refuses, here that of the %s, and nothing is taken of the others',
    async (limit, scope) => {
      const wide = { rpm: 6, tpm: 60, concurrency: 6 };
      const subject = subjectWith({ key: wide, project: wide, plan: wide, [scope]: { ...wide, [limit]: 2 } });
      const slots = [await slotOf(store, subject), await slotOf(other, subject)];
      for (let i = 0; i < 3; i++)
        expect(await refusalOf(store, subject)).toMatchObject({ limit, scope, limit_value: 2 });
      const unbound = changed(subject, scope, { [limit]: 6 });
      const left = await store.look(unbound);
      expect(left.concurrency_in_use).toBe(2);
      // The bucket that was of 2 is empty; those of 6 have lost two and no more.
      expect(left.rpm_remaining).toBe(limit === 'rpm' ? 0 : 4);
      const others = { ...unbound, bounds: unbound.bounds.filter((bound) => bound.scope !== scope) };
      expect((await store.look(others)).rpm_remaining).toBe(4);
      for (const slot of slots) slot.leave();
    },
  );

  test.each(['key', 'project', 'plan'] as const)(
    'the smallest tpm refuses, here that of the %s, and nothing is taken of the others',
    async (scope) => {
      const wide = { tpm: 600 };
      const subject = subjectWith({ key: wide, project: wide, plan: wide, [scope]: { tpm: 60 } });
      const slot = await slotOf(store, subject);
      expect(await slot.spend(50)).toBeNull();
      expect(await slot.spend(50)).toMatchObject({
        ...{ limit: 'tpm', scope, limit_value: 60 },
        subject: subject.bounds.find((bound) => bound.scope === scope)?.subject,
      });
      const others = { ...subject, bounds: subject.bounds.filter((bound) => bound.scope !== scope) };
      expect((await other.look(others)).tpm_remaining).toBeGreaterThanOrEqual(550);
      slot.leave();
    },
  );

  test('headers show the tightest of key, project and plan', async () => {
    const subject = subjectWith({
      ...{ key: { rpm: 100, tpm: 900 }, project: { rpm: 10, tpm: 5_000 }, plan: { rpm: 50, tpm: 500 } },
    });
    const slot = await slotOf(store, subject);
    expect(slot.gauges.requests).toMatchObject({ limit: 10, remaining: 9 });
    expect(slot.gauges.tokens).toMatchObject({ limit: 500, remaining: 500 });
    expect(await slot.spend(100)).toBeNull();
    expect(slot.gauges.tokens).toMatchObject({ limit: 500, remaining: 400 });
    slot.leave();
  });

  test('places in a project are of all its keys, and each is given back once by its own call', async () => {
    const first = subjectWith({ project: { concurrency: 2 } });
    const second = siblingOf(first);
    const [a, b] = [await slotOf(store, first), await slotOf(other, second)];
    expect(await refusalOf(store, second)).toMatchObject({ limit: 'concurrency', scope: 'project' });
    a.leave();
    a.leave();
    // Of the project alone: it is its narrowest bound.
    const project = { ...first, bounds: first.bounds.slice(1) };
    await expect.poll(async () => (await other.look(project)).concurrency_in_use).toBe(1);
    const c = await slotOf(other, second);
    expect(await refusalOf(store, first)).toMatchObject({ limit: 'concurrency', scope: 'project' });
    for (const slot of [b, c]) slot.leave();
    await expect.poll(async () => (await store.look(project)).concurrency_in_use).toBe(0);
  });

  test('a limit of a project holds from the next call on when it is lowered, raised or removed while calls run', async () => {
    const subject = subjectWith({ project: { rpm: 600, tpm: 600, concurrency: 10 } });
    const running = await Promise.all(Array.from({ length: 4 }, () => slotOf(store, subject)));
    const lowered = changed(subject, 'project', { concurrency: 3 });
    expect(await refusalOf(other, lowered)).toMatchObject({ limit: 'concurrency', limit_value: 3 });
    const raised = changed(subject, 'project', { concurrency: 5 });
    running.push(await slotOf(other, raised));
    expect(await refusalOf(store, raised)).toMatchObject({ limit: 'concurrency', limit_value: 5 });
    const removed = changed(subject, 'project', null);
    const free = await Promise.all(Array.from({ length: 10 }, () => slotOf(other, removed)));
    expect((await store.look({ ...raised, bounds: raised.bounds.slice(1) })).concurrency_in_use).toBe(5);
    // A bucket that shrinks holds no more than its new capacity.
    const narrow = changed(subject, 'project', { rpm: 1, concurrency: null });
    running.push(await slotOf(store, narrow));
    expect(await refusalOf(other, narrow)).toMatchObject({ limit: 'rpm', scope: 'project', limit_value: 1 });
    for (const slot of [...running, ...free]) slot.leave();
    const project = { ...raised, bounds: raised.bounds.slice(1) };
    await expect.poll(async () => (await store.look(project)).concurrency_in_use).toBe(0);
  });

  test('whatever order calls enter, spend and leave in, no limit is passed', async () => {
    const step = fc.record({
      act: fc.constantFrom('enter', 'leave', 'spend'),
      tokens: fc.nat(200),
      at: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        // So slow a refill that a test adds nothing: what enters and is spent is bounded by the capacity alone.
        const subject = subjectWith({
          ...{ key: { rpm: 12, concurrency: 4 }, project: { tpm: 600 }, plan: { rpm: 15, concurrency: 3 } },
        });
        const open: { readonly slot: LimitSlot; readonly at: LimitStore }[] = [];
        const started = performance.now();
        let entered = 0;
        let spent = 0;
        for (const { act, tokens, at } of steps) {
          if (act === 'enter') {
            const asked = at % 2 === 0 ? store : other;
            const one = await asked.enter(subject);
            if (!isRefusal(one)) {
              entered++;
              open.push({ slot: one, at: asked });
            } else if (one.limit === 'concurrency') expect(open.length).toBe(3);
          } else if (act === 'leave') {
            const left = open.splice(at % Math.max(1, open.length), 1)[0];
            left?.slot.leave();
            // Answered after the leaving was heard of, so that the other store finds the place free.
            await left?.at.look(subject);
          } else {
            const slot = open[at % Math.max(1, open.length)]?.slot;
            if (slot !== undefined && (await slot.spend(tokens)) === null) spent += tokens;
          }
          expect(open.length).toBeLessThanOrEqual(3);
        }
        const minutes = (performance.now() - started) / 60_000;
        expect(entered).toBeLessThanOrEqual(12 + Math.ceil(12 * minutes));
        expect(spent).toBeLessThanOrEqual(600 + Math.ceil(600 * minutes));
        for (const { slot } of open) slot.leave();
      }),
      { numRuns: 60 },
    );
  });
});
