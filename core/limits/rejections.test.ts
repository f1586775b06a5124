import { expect, test } from 'vitest';
import { RejectionCounts } from './rejections.ts';

const HOUR = 3_600_000;
const NOW = 500_000 * HOUR + 90_000;

test('refusals count for the hour they come in and the 23 after it', () => {
  const counts = new RejectionCounts();
  counts.count('p', 'rpm', NOW);
  counts.count('p', 'rpm', NOW + HOUR);
  counts.count('p', 'concurrency', NOW + HOUR);
  counts.count('other', 'tpm', NOW);
  expect(counts.of('p', NOW + HOUR)).toEqual({ rpm: 2, tpm: 0, concurrency: 1 });
  expect(counts.of('p', NOW + 23 * HOUR)).toEqual({ rpm: 2, tpm: 0, concurrency: 1 });
  expect(counts.of('p', NOW + 24 * HOUR)).toEqual({ rpm: 1, tpm: 0, concurrency: 1 });
  expect(counts.of('p', NOW + 25 * HOUR)).toEqual({ rpm: 0, tpm: 0, concurrency: 0 });
  expect(counts.of('nobody', NOW)).toEqual({ rpm: 0, tpm: 0, concurrency: 0 });
});

test('what is taken is counted once', () => {
  const counts = new RejectionCounts();
  for (let i = 0; i < 3; i++) counts.count('p', 'tpm', NOW);
  counts.count('p', 'rpm', NOW + HOUR);
  const first = { plan: 'p', hour: 500_000, limit: 'tpm', count: 3 };
  const second = { plan: 'p', hour: 500_001, limit: 'rpm', count: 1 };
  expect(counts.take()).toEqual([first, second]);
  expect(counts.take()).toEqual([]);
});
