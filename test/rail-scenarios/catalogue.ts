// Scenarios that rail-a publishes for integrations, by its own ids, and the tests that play each through the real product
// against the simulator. What an id asks for is said in our words.
// @see https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s

interface Scenario {
  readonly id: string;
  readonly what: string;
  /** File and name of each test, relative to the top folder. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

const CHECKOUT = 'test/topups/rail-a.test.ts';
const STEPS = 'test/topups/rail-a-steps.test.ts';
const SEQUENCES = 'test/topups/sequences.test.ts';
const REFUNDS = 'test/refunds/rail-a.test.ts';
const SETTLEMENTS = 'test/settlements/settlements.test.ts';

const PAID = 'quote, page, checkout by UPI, back in the console: paid with tax, credited and documented';
const FAILED_THEN_PAID =
  'an attempt that fails at the checkout is told, the page stays open, and the bank that says yes late pays';

export const scenarios: readonly Scenario[] = [
  { id: 'ORD-01', what: 'an order is made on the server, with our own receipt', tests: [[CHECKOUT, PAID]] },
  { id: 'ORD-02', what: 'a failed attempt leaves the order open', tests: [[CHECKOUT, FAILED_THEN_PAID]] },
  { id: 'ORD-03', what: 'a later attempt pays the same order', tests: [[CHECKOUT, FAILED_THEN_PAID]] },
  {
    id: 'BP-01',
    what: 'the event books, the return of the browser does not',
    tests: [
      [CHECKOUT, 'a return that the rail did not sign leads to the page again, and books nothing'],
      [CHECKOUT, PAID],
    ],
  },
  {
    id: 'BP-03',
    what: 'an event that is sent again is taken once; a changed copy is refused',
    tests: [
      [CHECKOUT, 'events late, twice and turned round, each answered with what was booked once'],
      [
        SEQUENCES,
        'rail-a: bytes that were re-serialised, forged or signed with a secret of nobody are refused and leave no row',
      ],
    ],
  },
  {
    id: 'BP-04',
    what: 'our endpoint is away: what it missed is booked all the same',
    tests: [
      [
        STEPS,
        'a payment whose callbacks are all lost is found by the poll, booked once, with the fee and its tax',
      ],
      [
        'test/topups/silence.test.ts',
        'an address that the rail has switched off: polls book every payment, and the staff are told once',
      ],
    ],
  },
  {
    id: 'BP-05',
    what: 'a missed event is found by asking the rail',
    tests: [
      [
        SETTLEMENTS,
        'what no event reported is booked as its event would have: payments, refunds, disputes, over both rails',
      ],
    ],
  },
  {
    id: 'BP-06',
    what: 'the bank says yes after the payment had failed, up to three days later: booked once',
    tests: [
      [
        STEPS,
        'the bank says yes 71 hours after the rail gave it up: booked once, on a top-up that had expired',
      ],
    ],
  },
  {
    id: 'BP-07',
    what: 'the answer to a new order is dropped: there is one order',
    tests: [
      [STEPS, 'when the answer to an order is lost, the order is found by its receipt and there is one'],
    ],
  },
  {
    id: 'BP-08',
    what: 'two payments on one order: one is kept',
    tests: [
      [STEPS, 'two payments on one order, both untold: the poll books the first and gives the second back'],
    ],
  },
  {
    id: 'BP-12',
    what: 'the answer to a refund is dropped: it is made once',
    tests: [
      [STEPS, 'a refund whose answer is lost is asked for again under its key, and is made once'],
      [
        'test/refunds/refunds.test.ts',
        'a refund over rail-a gives back its share of the tax, also when its answer was lost',
      ],
    ],
  },
  {
    id: 'BP-20',
    what: 'open orders are reconciled, and what cannot be is put before a person',
    tests: [
      [
        SETTLEMENTS,
        'a payment that the rail does not know, and one that it never settles, are put before a person',
      ],
    ],
  },
  {
    id: 'RFND-01',
    what: 'a normal refund goes back, at once or after days',
    tests: [
      [
        REFUNDS,
        'a refund that the bank takes a week for stays pending, and is booked once by its event and by polls',
      ],
    ],
  },
  {
    id: 'SETL-01',
    what: 'a settlement is made, and each of its lines is ours',
    tests: [
      [
        SETTLEMENTS,
        'a settlement that is as it should be finds nothing; its lines and its payout are kept once',
      ],
    ],
  },
];
