import { expect, test } from 'vitest';
import type { Endpoint } from '../../../catalog/index.ts';
import { nowMs } from '../../../kernel/index.ts';
import { createHealth } from '../../../routing/index.ts';
import { processClock } from '../clock.ts';
import { startNow } from '../record.ts';
import type { AttemptRecord } from '../types.ts';

test('an attempt at a half-open circuit is its probe; one with an own key is none', () => {
  const health = createHealth();
  const viewer = { org_id: 'org', path: 'chat' };
  const circuit = () => health.seenBy(viewer).circuit('ep', nowMs());
  const before = nowMs() - 20_000;
  for (let i = 0; i < 5; i++) health.failed('ep', viewer, 'server', before);
  const attemptAt = (endpoint: object) => ({ endpoint, clock: processClock }) as unknown as AttemptRecord;
  startNow(
    attemptAt({ id: 'ep', own_key: { id: 'k' } } satisfies Partial<Record<keyof Endpoint, unknown>>),
    viewer,
    health,
  );
  expect(circuit()).toBe('half_open');
  startNow(attemptAt({ id: 'ep' }), viewer, health);
  expect(circuit()).toBe('open');
});
