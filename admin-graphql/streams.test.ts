// Streams are counted, and none outlives its connection.
import { afterEach, expect, test, vi } from 'vitest';
import { Streams } from './streams.ts';

const check = async () => undefined;
afterEach(() => void vi.useRealTimers());
const HOUR_MS = 60 * 60_000;

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

test('a session holds at most fifty streams, and one that ends makes room; another session has its own fifty', () => {
  const streams = new Streams();
  const opened = Array.from({ length: 50 }, () => {
    const ended = new AbortController();
    streams.open({ session_id: 's', ended, check });
    return ended;
  });
  const open = (session_id: string) => streams.open({ session_id, ended: new AbortController(), check });
  expect(() => open('s')).toThrow(expect.objectContaining({ code: 'rate_limit_exceeded' }));
  open('other');
  opened[7]?.abort();
  open('s');
  expect(streams.size).toBe(51);
  streams.close();
  expect(streams.size).toBe(0);
});

test('a stream ends after an hour, not a moment before, and nothing is left of it', () => {
  vi.useFakeTimers();
  const streams = new Streams();
  const ended = new AbortController();
  streams.open({ session_id: 's', ended, check });
  vi.advanceTimersByTime(HOUR_MS - 1);
  expect(ended.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect([ended.signal.aborted, streams.size, vi.getTimerCount()]).toEqual([true, 0, 0]);
});
