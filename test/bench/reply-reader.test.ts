import fc from 'fast-check';
import { expect, test } from 'vitest';
import { streams, whole } from './replies.ts';
import { type Reply, ReplyReader } from './reply-reader.ts';

function read(pieces: readonly Buffer[]): Reply[] {
  const replies: Reply[] = [];
  const reader = new ReplyReader((reply) => replies.push(reply));
  for (const piece of pieces) reader.push(piece);
  return replies;
}

const { first, rest, last } = streams.openai;
const answers = Buffer.concat([whole.openai, first, ...rest, last, whole.anthropic]);

test('answers are read the same wherever the connection cuts them', () => {
  const expected = read([answers]).map(({ status, body_bytes, tail }) => ({ status, body_bytes, tail }));
  expect(expected).toHaveLength(3);
  expect(expected[1]?.tail).toContain('[DONE]');
  fc.assert(
    fc.property(fc.array(fc.nat(answers.length), { maxLength: 30 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), answers.length];
      const pieces = at.slice(1).map((end, i) => answers.subarray(at[i], end));
      const replies = read(pieces.filter((piece) => piece.length > 0));
      expect(replies.map(({ status, body_bytes, tail }) => ({ status, body_bytes, tail }))).toEqual(expected);
    }),
  );
});

test('bytes that are no HTTP answer are a fault and not an answer', () => {
  expect(() => read([Buffer.from('garbage\r\n\r\n')])).toThrow('no HTTP answer');
});
