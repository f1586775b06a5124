import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventReader, latestOf } from './live.ts';

const stream =
  ': ping\n\nevent: next\ndata: {"data":{"requestAdded":{"id":"01K"}}}\n\nevent: next\r\ndata: a\r\ndata: b\r\n\r\n' +
  'event: complete\ndata:\n\n';
const events = [
  { event: 'next', data: '{"data":{"requestAdded":{"id":"01K"}}}' },
  { event: 'next', data: 'a\nb' },
  { event: 'complete', data: '' },
];

test('any split of the stream into pieces gives the same events', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const read = eventReader();
      const pieces = places.slice(1).map((end, i) => stream.slice(places[i], end));
      expect(pieces.flatMap(read)).toEqual(events);
    }),
  );
});

test('a stream knows more than what was read, but not once that is over', () => {
  const isOver = ({ over }: { over: boolean }) => over;
  const [read, heard, ended] = [{ over: false }, { over: false }, { over: true }];
  expect(latestOf(read, heard, isOver)).toBe(heard);
  expect(latestOf(read, null, isOver)).toBe(read);
  expect(latestOf(ended, heard, isOver)).toBe(ended);
  expect(latestOf(read, ended, isOver)).toBe(ended);
  expect(latestOf<{ over: boolean } | undefined>(undefined, heard, isOver)).toBe(heard);
  expect(latestOf<{ over: boolean } | undefined>(undefined, null, isOver)).toBe(undefined);
});
