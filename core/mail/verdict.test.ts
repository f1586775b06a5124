// What follows from an answer of a mail server (RFC 5321, RFC 3463).
import { expect, test } from 'vitest';
import { judgeFailure, RETRY_MINUTES, retryDelayMs } from './verdict.ts';

const judge = (command: string, text: string) =>
  judgeFailure({ command, text, code: Number(/^\d{3}/.exec(text)?.[0] ?? 0) });
const retry = { kind: 'retry' };
const failed = { kind: 'failed', address: false };
const gone = { kind: 'failed', address: true };

test.each([
  ['RCPT TO', '550 5.1.1 No such user', gone],
  ['RCPT TO', '550 5.1.10 Null MX', gone],
  ['RCPT TO', '550 5.2.1 Mailbox disabled', gone],
  ['RCPT TO', '550 No such user here', gone],
  ['RCPT TO', '551 User not local', gone],
  ['RCPT TO', '553 Mailbox name not allowed', gone],
  ['RCPT TO', '552 5.2.2 Mailbox full', failed],
  ['RCPT TO', '550 5.7.1 Relaying denied', retry],
  ['RCPT TO', '554 Transaction failed', retry],
  ['RCPT TO', '450 4.2.1 Try again', retry],
  ['DATA', '554 5.6.0 Message refused', failed],
  ['DATA', '451 4.3.0 Later', retry],
  ['MAIL FROM', '550 5.1.8 Bad sender', retry],
  ['AUTH PLAIN', '535 5.7.8 Wrong password', retry],
  ['EHLO', '554 No service', retry],
  ['CONN', 'connect ECONNREFUSED', retry],
] as const)('%s answered by %s', (command, text, verdict) => {
  expect(judge(command, text)).toEqual(verdict);
});

test('retries come after 1, 5, 15, 60 and then every 180 minutes, a tenth earlier or later', () => {
  expect(RETRY_MINUTES.map((_, at) => retryDelayMs(at + 1, 0.5) / 60_000)).toEqual([1, 5, 15, 60, 180]);
  expect(retryDelayMs(40, 0.5)).toBe(180 * 60_000);
  expect([retryDelayMs(1, 0), retryDelayMs(1, 1)]).toEqual([54_000, 66_000]);
});
