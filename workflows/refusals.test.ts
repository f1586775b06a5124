import { ServiceError } from '@svc/core/kernel/index.ts';
import { RailError } from '@svc/core/topups/index.ts';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { failureOf } from './refusals.ts';

const shown = (error: unknown) => {
  const { type, nonRetryable, message } = failureOf(error) as ApplicationFailure;
  return { type, nonRetryable, message };
};

test('a refusal that cannot succeed later is not tried again, and its type says why', () => {
  const refusals = [
    [new ServiceError('not_found', 'No such thing.'), 'NotFound'],
    [new ServiceError('state_conflict', 'It is paid.'), 'StateConflict'],
    [new ServiceError('invalid_request', 'Wrong.'), 'Validation'],
    [new RailError('No.', { declined: true, code: 'card_declined' }), 'RailDeclined'],
  ] as const;
  for (const [error, type] of refusals) expect(shown(error)).toMatchObject({ type, nonRetryable: true });
});

test('what may succeed later is tried again', () => {
  for (const error of [
    new ServiceError('service_unavailable', 'Later.'),
    new RailError('timeout', { declined: false }),
    new TypeError('a defect, until a release mends it'),
    Object.assign(new Error('connection terminated'), { code: '57P01' }),
    'thrown text',
    null,
  ]) {
    expect(shown(error).nonRetryable).toBe(false);
  }
});

test('no text of a driver, a rail or a caller gets into a history', () => {
  const secret = 'asha@example.com';
  for (const error of [
    new Error(secret),
    new RailError(secret, { declined: true }),
    new RailError(secret, { declined: false }),
    new ServiceError('invalid_request', secret, { details: { email: secret } }),
    Object.assign(new Error(secret), { code: '22P02' }),
    secret,
  ]) {
    const failure = failureOf(error) as ApplicationFailure;
    expect(JSON.stringify([failure.message, failure.type, failure.details, failure.cause])).not.toContain(
      secret,
    );
  }
});

test('a failure that was made for Temporal passes as it is', () => {
  const failure = ApplicationFailure.nonRetryable('made', 'NotFound');
  expect(failureOf(failure)).toBe(failure);
});
