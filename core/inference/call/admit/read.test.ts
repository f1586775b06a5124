import { expect, test } from 'vitest';
import { atOnce } from '../../../kernel/index.ts';
import { messagesDialect } from '../../formats/anthropic-messages/caller/index.ts';
import { chat } from '../../formats/openai-chat/caller/index.ts';
import { responses } from '../../formats/openai-responses/caller/index.ts';
import type { Incoming } from '../types.ts';
import { exactRequest, readAtOnce, readInSteps } from './read.ts';

/** What reading looks at. */
function incoming(text: string, dialect = chat): Incoming {
  return { body: Buffer.from(text), members: null, dialect, headers: {} } as unknown as Incoming;
}

/** A body of `bytes` bytes before a member whose number no double holds. */
function withNumberAt(bytes: number): string {
  const before = '{"model":"a/b","user":"';
  const behind = '","messages":[{"role":"user","content":"a"}],"seed2":';
  return `${before}${'a'.repeat(bytes - before.length - behind.length)}${behind}12345678901234567890}`;
}

test('what is read in steps is what is read at once, in each dialect', () => {
  const turns = Array.from({ length: 2_500 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `turn ${i}`,
  }));
  const bodies = [
    [chat, { messages: turns }],
    [messagesDialect, { max_tokens: 5, messages: turns }],
    [responses, { input: turns }],
  ] as const;
  for (const [dialect, members] of bodies) {
    const body = incoming(JSON.stringify({ model: 'a/b', ...members }), dialect);
    expect(atOnce(readInSteps(body)).request).toEqual(readAtOnce(body).request);
    // A long list is not read in one go.
    expect([...readInSteps(body)].length).toBeGreaterThan(2);
  }
});

test('a body read in steps keeps the digits of its numbers, wherever they lie', () => {
  // Around the ends of the parts that are looked at.
  for (let at = 262_100; at < 262_160; at += 3) {
    const body = incoming(withNumberAt(at));
    const exact = atOnce(exactRequest(body, atOnce(readInSteps(body))));
    expect(JSON.stringify(exact.ext)).toBe('{"seed2":12345678901234567890}');
  }
});

test('a body without such numbers is not read again', () => {
  const body = incoming('{"model":"a/b","messages":[{"role":"user","content":"1.5"}],"seed":7}');
  const read = atOnce(readInSteps(body));
  expect(atOnce(exactRequest(body, read))).toBe(read.request);
});
