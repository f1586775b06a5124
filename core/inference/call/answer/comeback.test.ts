import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Incoming, Sink } from '../types.ts';
import { awaitedMs, PatientSink } from './comeback.ts';
import { createDrained } from './drained.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A caller's connection that writes down what it was sent. */
class Connection implements Sink {
  gone = false;
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  readonly seen: unknown[] = [];
  head(status: number): void {
    this.seen.push(status);
  }
  write(bytes: Buffer | string): boolean {
    this.seen.push(String(bytes));
    return true;
  }
  end(bytes: Buffer | string): void {
    this.seen.push(`${bytes}.`);
  }
  destroy(): void {
    this.seen.push('destroyed');
  }
  leave(): void {
    this.gone = true;
    this.onGone?.();
  }
}

const asking = (count: number, body = 'x') =>
  ({
    grant: { key_id: 'key_1' },
    path: '/v1/chat/completions',
    body: Buffer.from(body),
    headers: { 'x-stainless-retry-count': String(count) },
  }) as unknown as Incoming;

function setUp() {
  const drained = createDrained();
  const first = new Connection();
  const sink = new PatientSink(drained, asking(0), first);
  const reported = { gone: 0, drain: 0 };
  sink.onGone = () => void reported.gone++;
  sink.onDrain = () => void reported.drain++;
  return { drained, first, sink, reported };
}

test('who is awaited: a client that counts its retries, for as long as it pauses before the next', () => {
  expect(awaitedMs({ 'x-stainless-retry-count': '0' })).toBe(1_500);
  expect(awaitedMs({ 'x-stainless-retry-count': '1' })).toBe(2_000);
  expect(awaitedMs({ 'x-stainless-retry-count': '99' })).toBe(9_000);
  for (const headers of [
    {},
    { 'x-stainless-retry-count': '-1' },
    { 'x-stainless-retry-count': 'x' },
    { 'x-stainless-retry-count': '0', 'idempotency-key': 'k' },
  ]) {
    expect(awaitedMs(headers)).toBe(0);
  }
});

test('the retry gets what was sent meanwhile in order, and the rest as it comes', () => {
  const { drained, first, sink, reported } = setUp();
  first.leave();
  expect(sink.gone).toBe(false);
  sink.head(200, []);
  sink.write('a');
  const second = new Connection();
  drained.take(asking(1))?.reattach(second);
  sink.write('b');
  sink.end('c');
  expect(second.seen).toEqual([200, 'a', 'b', 'c.']);
  expect(first.seen).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(reported).toEqual({ gone: 0, drain: 1 });
});

test('an answer that has ended meanwhile is given whole, once', () => {
  const { drained, first, sink } = setUp();
  first.leave();
  sink.head(200, []);
  sink.end('all');
  const second = new Connection();
  drained.take(asking(1))?.reattach(second);
  expect(second.seen).toEqual([200, 'all.']);
  expect(drained.take(asking(1))).toBeNull();
});

test('who stays away has left then, and is not found any more', () => {
  const { drained, first, sink, reported } = setUp();
  first.leave();
  vi.advanceTimersByTime(1_499);
  expect(reported.gone).toBe(0);
  vi.advanceTimersByTime(1);
  expect(reported.gone).toBe(1);
  expect(sink.gone).toBe(true);
  expect(drained.take(asking(1))).toBeNull();
});

describe('a process that stood still has not read a retry that has come, and waits on', () => {
  const standStill = (ms: number) => {
    const until_ms = performance.now() + ms;
    vi.spyOn(performance, 'now').mockReturnValue(until_ms);
    vi.advanceTimersByTime(1_500);
    vi.restoreAllMocks();
  };

  test('for an answer that is under way', () => {
    const { drained, first, reported } = setUp();
    first.leave();
    standStill(9_000);
    expect(reported.gone).toBe(0);
    vi.advanceTimersByTime(999);
    expect(drained.take(asking(1))).not.toBeNull();
  });

  test('for one that was sent', () => {
    const { drained, sink } = setUp();
    sink.head(200, []);
    sink.end('all');
    standStill(9_000);
    vi.advanceTimersByTime(999);
    expect(drained.take(asking(1))).not.toBeNull();
  });

  test('and no longer than a retry needs to arrive', () => {
    const { drained, first, reported } = setUp();
    first.leave();
    standStill(9_000);
    vi.advanceTimersByTime(1_000);
    expect(reported.gone).toBe(1);
    expect(drained.take(asking(1))).toBeNull();
  });
});

test('who has seen the head, or was cut off before a provider was asked, has left at once', () => {
  const shown = setUp();
  shown.sink.head(200, []);
  shown.first.leave();
  expect(shown.reported.gone).toBe(1);
  const early = setUp();
  early.sink.asked = () => false;
  early.first.leave();
  expect(early.reported.gone).toBe(1);
});

test('a failure is not kept: its retry is a call of its own', () => {
  const { drained, first, sink } = setUp();
  first.leave();
  sink.head(502, []);
  sink.end('failed');
  expect(drained.take(asking(1))).toBeNull();
});

test('another body, or a first try, is no retry', () => {
  const { drained, first } = setUp();
  first.leave();
  expect(drained.take(asking(1, 'y'))).toBeNull();
  expect(drained.take(asking(0))).toBeNull();
  expect(drained.take(asking(1))).not.toBeNull();
});

test('the provider waits when a mebibyte is held, and goes on with the caller', () => {
  const { drained, first, sink, reported } = setUp();
  first.leave();
  sink.head(200, []);
  expect(sink.write(Buffer.alloc(1_048_575))).toBe(true);
  expect(sink.write('xx')).toBe(false);
  drained.take(asking(1))?.reattach(new Connection());
  expect(reported.drain).toBe(1);
});

describe('while the first connection is still there', () => {
  test('a retry takes the answer over, and the older connection is ended', () => {
    const { drained, first, sink, reported } = setUp();
    const second = new Connection();
    drained.take(asking(1))?.reattach(second);
    sink.head(200, []);
    sink.end('all');
    expect(second.seen).toEqual([200, 'all.']);
    expect(first.seen).toEqual(['destroyed']);
    // That it closes then is no leaving.
    first.leave();
    expect(reported).toEqual({ gone: 0, drain: 0 });
  });

  test('so does the retry after that, and who leaves last has left', () => {
    const { drained, sink, reported } = setUp();
    const second = new Connection();
    drained.take(asking(1))?.reattach(new PatientSink(drained, asking(1), second));
    const third = new Connection();
    drained.take(asking(2))?.reattach(new PatientSink(drained, asking(2), third));
    expect(second.seen).toEqual(['destroyed']);
    third.leave();
    vi.advanceTimersByTime(60_000);
    expect(reported.gone).toBe(1);
    expect(sink.gone).toBe(true);
    expect(drained.take(asking(3))).toBeNull();
  });

  test('an answer that has begun is not taken over', () => {
    const { drained, first, sink } = setUp();
    sink.head(200, []);
    expect(drained.take(asking(1))).toBeNull();
    sink.end('all');
    expect(first.seen).toEqual([200, 'all.']);
  });

  test('a whole answer that was just sent is given to the retry too, for as long as the client may pause', () => {
    const { drained, first, sink, reported } = setUp();
    sink.head(200, []);
    sink.end('all');
    // Its connection closes now, or never.
    first.leave();
    const second = new Connection();
    drained.take(asking(1))?.reattach(new PatientSink(drained, asking(1), second));
    expect([first.seen, second.seen]).toEqual([
      [200, 'all.'],
      [200, 'all.'],
    ]);
    const third = new Connection();
    drained.take(asking(2))?.reattach(third);
    expect(third.seen).toEqual([200, 'all.']);
    expect(drained.take(asking(3))).toBeNull();
    expect(reported).toEqual({ gone: 0, drain: 0 });

    const late = setUp();
    late.sink.head(200, []);
    late.sink.end('all');
    vi.advanceTimersByTime(1_500);
    expect(late.drained.take(asking(1))).toBeNull();
  });

  test('one that is undelivered or runs still comes first, and a large one is not kept', () => {
    const { drained, first, sink } = setUp();
    sink.head(200, []);
    sink.end('all');
    const running = new PatientSink(drained, asking(0), new Connection());
    expect(drained.take(asking(1))).toBe(running);
    expect(drained.take(asking(1))).toBe(sink);
    const big = new PatientSink(drained, asking(0), first);
    big.head(200, []);
    big.end('x'.repeat(65_536));
    expect(drained.take(asking(1))).toBeNull();
    const streamed = new PatientSink(drained, asking(0), first);
    streamed.head(200, []);
    streamed.write('a');
    streamed.end('b');
    expect(drained.take(asking(1))).toBeNull();
  });

  test('no more than a thousand answers that were sent are kept', () => {
    const { drained } = setUp();
    for (let n = 0; n < 1_002; n++) {
      const sink = new PatientSink(drained, asking(0, `body ${n}`), new Connection());
      sink.head(200, []);
      sink.end('all');
    }
    expect(drained.take(asking(1, 'body 999'))).not.toBeNull();
    expect(drained.take(asking(1, 'body 1001'))).toBeNull();
  });

  test('of two equal calls neither is: nobody can say which is meant', () => {
    const { drained, first } = setUp();
    new PatientSink(drained, asking(0), new Connection());
    expect(drained.take(asking(1))).toBeNull();
    // The one whose caller has left is.
    first.leave();
    expect(drained.take(asking(1))).not.toBeNull();
  });

  test('where a call of the key has just failed the retry is that one', () => {
    const { drained } = setUp();
    const failed = new PatientSink(drained, asking(0, 'y'), new Connection());
    failed.head(429, []);
    expect(drained.take(asking(1))).toBeNull();
    vi.advanceTimersByTime(1_600);
    expect(drained.take(asking(1))).not.toBeNull();
  });
});
