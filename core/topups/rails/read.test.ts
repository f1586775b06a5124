// What rails send, read with doubt.
import { expect, test } from 'vitest';
import { amountOf, eventIn, listIn, nameIn, nameOf, objectIn } from './read.ts';

const unreadable = (message: string) =>
  expect.objectContaining({ name: 'RailError', declined: false, code: 'UNREADABLE_ANSWER', message });

test('a name is a text of 255 letters at most', () => {
  expect(['', 7, null, undefined, {}, 'x'.repeat(256)].map(nameOf)).toEqual(Array(6).fill(null));
  expect(['x', 'x'.repeat(255)].map(nameOf)).toEqual(['x', 'x'.repeat(255)]);
});

test('money that moved is a whole number above nothing', () => {
  expect([0, -1, 1.5, '1', 2 ** 53, null].map(amountOf)).toEqual(Array(6).fill(null));
  expect([1, 2_500].map(amountOf)).toEqual([1, 2_500]);
});

test('an answer that is a page, a text or nothing is told from a refusal: the rail may have done its work', () => {
  for (const answer of ['<html>', null, [], 7])
    expect(() => objectIn(answer)).toThrow(unreadable('The payment rail answered without an object.'));
  for (const answer of [{}, { id: '' }, { id: 7 }])
    expect(() => nameIn(answer)).toThrow(
      unreadable('The payment rail answered with an object without a name.'),
    );
  for (const answer of [{}, { items: null }, { items: { 0: {} } }])
    expect(() => listIn(answer)).toThrow(unreadable('The payment rail answered with a list without items.'));
});

test('an answer has its name, and a list the objects that are in it', () => {
  const answer = { id: 'order_1' };
  expect([objectIn(answer), nameIn(answer)]).toEqual([answer, 'order_1']);
  expect(listIn({ items: [answer, null, 'x', [answer]] })).toEqual([answer]);
});

test('an event has no letter that no text of a database may have, and its numbers as they are', () => {
  const event = { type: 'a\0b\ud800c', at: 7, more: { deep: '\0' } };
  expect(eventIn(Buffer.from(JSON.stringify(event)))).toEqual({
    type: 'ab\ufffdc',
    at: 7,
    more: { deep: '' },
  });
  for (const text of ['', '{', '[]', 'null', '"x"']) expect(eventIn(Buffer.from(text))).toBeNull();
});
