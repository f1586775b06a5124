import { expect, test } from 'vitest';
import type { Endpoint } from '../../catalog/index.ts';
import type { Relay } from '../canonical/contract.ts';
import { newRelayState } from '../canonical/relay-state.ts';
import type { UpstreamFault } from '../canonical/types.ts';
import { Attempt } from './attempt/attempt.ts';
import { newAttempt } from './attempt/lane.ts';
import type { Clock } from './clock.ts';
import { endAttempt } from './record.ts';

/** A clock that stands until a test moves it. */
class TestClock implements Clock {
  at = 1_000;

  nowMs(): number {
    return 1_790_000_000_000 + this.at;
  }

  monotonicMs(): number {
    return this.at;
  }
}

function silentRelay(): Relay {
  const state = { ...newRelayState(), semantic: true };
  return { state, push: () => '', close: () => '', end: () => '', fail: () => '', keepAlive: () => '' };
}

test('an attempt is timed by the clock of its call, from its beginning to its end', () => {
  const clock = new TestClock();
  const record = newAttempt(clock, {} as Endpoint, 1);
  const relay = silentRelay();
  const faults: UpstreamFault[] = [];
  const attempt = new Attempt(
    record,
    { relay, telling: { as: 'stream', relay } },
    {
      lane: null,
      classify: () => ({ class: 'server', status: 500, message: '' }),
      times: { first_event_ms: 10_000, idle_ms: 60_000 },
      listener: {
        progressed() {},
        completed() {},
        failed: (_attempt, fault) => void faults.push(fault),
        crashed(_attempt, error) {
          throw error;
        },
      },
    },
  );
  attempt.head(200, { 'content-type': 'text/event-stream' });
  clock.at += 59_000;
  attempt.data(Buffer.from('x'));
  clock.at += 60_000;
  attempt.tick(clock.monotonicMs());
  expect(faults).toEqual([]);
  clock.at += 1;
  attempt.tick(clock.monotonicMs());
  expect(faults.map((fault) => fault.class)).toEqual(['idle']);
  endAttempt(record, 'timeout', 'idle');
  expect(record).toMatchObject({ started_at_ms: 1_790_000_001_000, duration_ms: 119_001 });
});
