// What goes wrong with payments, in a few words, and the test that plays each word over each rail, through its official
// client. `make rail-scenarios` runs all of them.

type Test = readonly [file: string, name: string];

interface Word {
  readonly word: string;
  readonly 'rail-a': Test;
  readonly 'rail-b': Test;
}

const SEQUENCES = 'test/topups/sequences.test.ts';
const STEPS = 'test/topups/rail-a-steps.test.ts';
const FOLLOW = 'test/topups/follow.test.ts';
const CALLBACK = 'test/topups/callback.test.ts';
const REFUNDS = 'test/refunds/refunds.test.ts';
const HERE = 'test/rail-scenarios/scenarios.test.ts';

const over = (test: Test): Pick<Word, 'rail-a' | 'rail-b'> => ({ 'rail-a': test, 'rail-b': test });

export const words: readonly Word[] = [
  {
    word: 'late',
    'rail-a': [
      STEPS,
      'the bank says yes 71 hours after the rail gave it up: booked once, on a top-up that had expired',
    ],
    'rail-b': [
      'test/topups/rest.test.ts',
      'money that arrives days later is booked, with its events turned round and each sent twice',
    ],
  },
  {
    word: 'duplicated',
    ...over([SEQUENCES, 'captured twice under one event id: booked, then a replay with the same document']),
  },
  {
    word: 'reordered',
    ...over([SEQUENCES, 'captured, then reported again by another event: a replay, whichever comes first']),
  },
  {
    word: 'forged',
    'rail-a': [
      SEQUENCES,
      'rail-a: bytes that were re-serialised, forged or signed with a secret of nobody are refused and leave no row',
    ],
    'rail-b': [CALLBACK, 'wrong bytes, an old stamp and a re-serialised body are refused and leave no row'],
  },
  {
    word: 'amount or currency changed',
    ...over([SEQUENCES, 'a smallest unit less, more, or another currency: review, no credit, a staff item']),
  },
  {
    word: 'wrong rail',
    ...over([
      SEQUENCES,
      'an event about a top-up of the other rail touches nothing: nulls, and a staff item',
    ]),
  },
  {
    word: '5xx',
    'rail-a': [STEPS, 'a rail that answers %i to an order fails the top-up with %s and nothing to pay'],
    'rail-b': [
      FOLLOW,
      'a rail that cannot be reached fails the top-up with 503, no event, and nothing to pay',
    ],
  },
  {
    word: 'time-out after success',
    'rail-a': [
      STEPS,
      'when the answer to an order is lost, the order is found by its receipt and there is one',
    ],
    'rail-b': [
      FOLLOW,
      'when the rail acts and its answer is lost, the retry gets the same session, and one row has it',
    ],
  },
  {
    word: 'refund before capture',
    'rail-a': [
      'test/refunds/rail-a.test.ts',
      'a refund that the rail reports before the payment is kept, and takes the credits when the payment is booked',
    ],
    'rail-b': [
      HERE,
      'rail-b: a refund that is reported before its payment takes the credits once that is booked',
    ],
  },
  {
    word: 'refund made in the dashboard',
    'rail-a': [HERE, 'rail-a: a refund made in the dashboard of the rail takes its credits once'],
    'rail-b': [
      REFUNDS,
      'a refund in the rail’s own dashboard is booked after ten minutes: what is spent is written off, and staff hear',
    ],
  },
  {
    word: 'settlement that differs',
    ...over([
      'test/settlements/settlements.test.ts',
      'another amount, another fee, a line of nothing and a payout that is not its lines are put before a person, once',
    ]),
  },
];
