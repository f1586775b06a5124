import { expect, test } from 'vitest';
import { standing } from './words.ts';

test('an open ticket says whose turn it is, an ended one how it ended', () => {
  expect(standing({ status: 'OPEN', waitingFor: 'STAFF' }).word).toBe('waits for support');
  expect(standing({ status: 'OPEN', waitingFor: 'CUSTOMER' }).word).toBe('answered, waits for you');
  expect(standing({ status: 'RESOLVED', waitingFor: null }).word).toBe('resolved');
});
