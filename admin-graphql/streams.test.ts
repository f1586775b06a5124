// Streams are counted, and none outlives its connection.
import { expect, test } from 'vitest';
import { Streams } from './streams.ts';

const check = async () => undefined;

test('a stream whose connection closed before it was opened takes no place and is watched by nobody', () => {
  const streams = new Streams();
  for (let i = 0; i < 100; i++) {
    const ended = new AbortController();
    ended.abort();
    expect(() => streams.open({ session_id: 's', ended, check })).toThrow(/connection has closed/);
  }
  expect(streams.size).toBe(0);
  const ended = new AbortController();
  streams.open({ session_id: 's', ended, check });
  expect(streams.size).toBe(1);
  ended.abort();
  expect(streams.size).toBe(0);
});
