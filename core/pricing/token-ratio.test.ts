import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTokenRatios, isTooLong, TokenRatio } from './index.ts';

const whole = (bytes: number) => ({ bytes, events: 0 });

/** A ratio that has seen `answers` as often as it takes to be known. */
function taught(...answers: readonly { bytes: number; events: number; tokens: number }[]): TokenRatio {
  const ratio = new TokenRatio();
  for (let i = 0; i < 300; i++) {
    const answer = answers[i % answers.length];
    if (answer !== undefined) ratio.observe(answer, answer.tokens);
  }
  return ratio;
}

test('an average counts only after 100 answers, and then follows the endpoint', () => {
  const ratio = new TokenRatio();
  for (let i = 0; i < 99; i++) ratio.observe(whole(4000), 1000);
  expect(ratio.count(whole(600))).toBe(100);
  // Too few tokens to say anything.
  ratio.observe(whole(3), 1);
  expect(ratio.count(whole(600))).toBe(100);
  ratio.observe(whole(4000), 1000);
  expect(ratio.count(whole(600))).toBe(150);
  for (let i = 0; i < 2000; i++) ratio.observe(whole(2900), 1000);
  expect(ratio.count(whole(600))).toBe(207);
});

test('nothing is counted as nothing, and what was said never is', () => {
  const ratio = new TokenRatio();
  expect(ratio.count(whole(0))).toBe(0);
  // "hi" and "hello world", whole and streamed.
  expect(ratio.count(whole(2))).toBe(1);
  expect(ratio.count(whole(11))).toBe(2);
  expect(ratio.count({ bytes: 2, events: 1 })).toBe(1);
  expect(ratio.count({ bytes: 11, events: 2 })).toBe(2);
  expect(ratio.count({ bytes: 600, events: 7 })).toBe(100);
});

test('where an event is a token the count is exact, whatever is written', () => {
  const digits = { bytes: 160, events: 100, tokens: 100 };
  const prose = { bytes: 480, events: 100, tokens: 100 };
  const ratio = taught(digits, prose);
  expect(ratio.count({ bytes: 80, events: 50 })).toBe(50);
  expect(ratio.count({ bytes: 240, events: 50 })).toBe(50);
});

test('an endpoint that sends its tokens in parts is learnt to', () => {
  const ratio = taught({ bytes: 400, events: 400, tokens: 100 });
  expect(ratio.count({ bytes: 200, events: 200 })).toBe(50);
});

test('an answer that shows nothing teaches nothing, and one that came whole nothing about events', () => {
  const streamed = { bytes: 400, events: 50, tokens: 100 };
  const hidden = { bytes: 0, events: 0, tokens: 5_000 };
  const at_once = { bytes: 400, events: 0, tokens: 100 };
  for (const asked of [whole(4_000), { bytes: 40, events: 50 }])
    expect(taught(streamed, hidden, at_once).count(asked)).toBe(taught(streamed).count(asked));
});

test('an average that is often wrong counts for less', () => {
  const steady = taught({ bytes: 400, events: 0, tokens: 100 });
  const unsteady = taught({ bytes: 300, events: 0, tokens: 100 }, { bytes: 500, events: 0, tokens: 100 });
  expect(steady.count(whole(4_000))).toBe(1_000);
  expect(unsteady.count(whole(4_000))).toBeGreaterThan(600);
  expect(unsteady.count(whole(4_000))).toBeLessThan(820);
});

test('a text that its reported tokens cannot hold teaches nothing', () => {
  expect(isTooLong(1_024, 1)).toBe(false);
  expect(isTooLong(1_200, 100)).toBe(false);
  expect(isTooLong(1_201, 100)).toBe(true);
  const ratio = taught({ bytes: 400, events: 100, tokens: 100 });
  for (let i = 0; i < 500; i++) ratio.observe({ bytes: 100_000, events: 25_000 }, 16);
  expect(ratio.count({ bytes: 400, events: 100 })).toBe(100);
});

test('prompts are counted by their own average', () => {
  const ratio = taught({ bytes: 400, events: 100, tokens: 100 });
  expect(ratio.countPrompt(600)).toBe(100);
  for (let i = 0; i < 100; i++) ratio.observePrompt(2_000, 500);
  expect(ratio.countPrompt(600)).toBe(150);
});

test('whatever an endpoint reports, a count is a whole number from 0', () => {
  const size = fc.nat(2 ** 31 - 1);
  const answer = fc.record({ bytes: size, events: size, tokens: size });
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 4 }), answer, (answers, { bytes, events }) => {
      const ratio = taught(...answers);
      const count = ratio.count({ bytes, events });
      expect(Number.isSafeInteger(count)).toBe(true);
      expect(count).toBeGreaterThanOrEqual(bytes > 0 ? 1 : 0);
    }),
  );
});

test('the last event of a complete stream counts as one token, because it may hold no more', () => {
  const ratio = taught({ bytes: 600, events: 10, tokens: 100 });
  const short = { bytes: 20, events: 1 };
  expect(ratio.count(short)).toBe(10);
  expect(ratio.count({ ...short, ended: true })).toBeLessThanOrEqual(3);
  expect(ratio.count({ bytes: 60, events: 10, ended: true })).toBe(60);
  expect(ratio.count({ bytes: 300, events: 10, ended: true })).toBe(91);
  // Where every event is a token, nothing is lost.
  const single = taught({ bytes: 400, events: 100, tokens: 100 });
  expect(single.count({ bytes: 400, events: 100, ended: true })).toBe(100);
});

test('where answers differ much, a short text counts for no more than is certain', () => {
  const unsteady = taught(
    { bytes: 3_000, events: 100, tokens: 1_500 },
    { bytes: 3_000, events: 100, tokens: 500 },
  );
  // Ten tokens an event and three bytes a token on average, of which an event surely has one.
  expect(unsteady.count({ bytes: 160, events: 4 })).toBe(4);
  expect(unsteady.count({ bytes: 300_000, events: 10_000 })).toBeGreaterThan(40_000);
});

test('only what says something of text teaches: answers and prompts of 16 tokens and more that have bytes', () => {
  const after = (observe: (ratio: TokenRatio) => void) => {
    const ratio = new TokenRatio();
    for (let i = 0; i < 150; i++) observe(ratio);
    return [ratio.count(whole(600)), ratio.countPrompt(600)];
  };
  const UNTAUGHT = [100, 100];
  expect(after((ratio) => ratio.observe(whole(30), 15))).toEqual(UNTAUGHT);
  expect(after((ratio) => ratio.observe(whole(32), 16))).toEqual([300, 100]);
  expect(after((ratio) => ratio.observe(whole(0), 16))).toEqual(UNTAUGHT);
  expect(after((ratio) => ratio.observePrompt(30, 15))).toEqual(UNTAUGHT);
  expect(after((ratio) => ratio.observePrompt(32, 16))).toEqual([100, 300]);
  expect(after((ratio) => ratio.observePrompt(0, 16))).toEqual(UNTAUGHT);
});

test('answers that came whole say nothing of events', () => {
  const ratio = taught({ bytes: 400, events: 0, tokens: 100 });
  expect(ratio.count({ bytes: 1, events: 40 })).toBe(1);
  expect(ratio.count({ bytes: 40, events: 40 })).toBe(40);
});

test('an answer that came whole has no last event', () => {
  const ratio = taught({ bytes: 400, events: 100, tokens: 100 });
  expect(ratio.count({ bytes: 400, events: 0, ended: true })).toBe(100);
  expect(ratio.count({ bytes: 2, events: 0, ended: true })).toBe(1);
});

test('the last event of a stream has the part of a token that an event has', () => {
  const ratio = taught({ bytes: 400, events: 400, tokens: 100 });
  expect(ratio.count({ bytes: 200, events: 201, ended: true })).toBe(50);
});

test('each endpoint is learnt for itself', () => {
  const ratioOf = createTokenRatios();
  for (let i = 0; i < 100; i++) ratioOf('ep_a').observe(whole(4000), 1000);
  expect([ratioOf('ep_a').count(whole(600)), ratioOf('ep_b').count(whole(600))]).toEqual([150, 100]);
  expect(ratioOf('ep_a')).toBe(ratioOf('ep_a'));
});
