// Scenarios that rail-a publishes for integrations, by its own ids, and the tests that play each through the real product
// against the simulator. What an id asks for is said in our words.
// @see https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s

interface Named {
  readonly id: string;
  readonly what: string;
}

type Test = readonly [file: string, name: string];

interface Played extends Named {
  /** File and name of each test, relative to the top folder; a test of a table by its title with `%s`. */
  readonly tests: readonly Test[];
  /** What of the scenario could be read, where that was less than its text. */
  readonly read?: string;
}

interface Left extends Named {
  /** Why nothing plays it. */
  readonly reason: string;
}

export type Scenario = Played | Left;

const CHECKOUT = 'test/topups/rail-a.test.ts';
const STEPS = 'test/topups/rail-a-steps.test.ts';
const SEQUENCES = 'test/topups/sequences.test.ts';
const REFUNDS = 'test/refunds/rail-a.test.ts';
const ALL_REFUNDS = 'test/refunds/refunds.test.ts';
const SETTLEMENTS = 'test/settlements/settlements.test.ts';
const RUPEES = 'test/mandates/rupees.test.ts';
const HERE = 'test/rail-scenarios/scenarios.test.ts';

const PAID: Test = [
  CHECKOUT,
  'quote, page, checkout by UPI, back in the console: paid with tax, credited and documented',
];
const FAILED_THEN_PAID: Test = [
  CHECKOUT,
  'an attempt that fails at the checkout is told, the page stays open, and the bank that says yes late pays',
];
const UNSIGNED_RETURN: Test = [
  CHECKOUT,
  'a return that the rail did not sign leads to the page again, and books nothing',
];
const FORGED: Test = [
  SEQUENCES,
  'rail-a: bytes that were re-serialised, forged or signed with a secret of nobody are refused and leave no row',
];
const ANY_ORDER: Test = [
  CHECKOUT,
  'events late, twice and turned round, each answered with what was booked once',
];
const POLLED: Test = [
  STEPS,
  'a payment whose callbacks are all lost is found by the poll, booked once, with the fee and its tax',
];
const SWITCHED_OFF: Test = [
  'test/topups/silence.test.ts',
  'an address that the rail has switched off: polls book every payment, and the staff are told once',
];
const HANGS: Test = [
  HERE,
  'an address of ours that hangs until the rail gives up and sends again books once, and answers both',
];
const RECONCILED: Test = [
  SETTLEMENTS,
  'what no event reported is booked as its event would have: payments, refunds, disputes, over both rails',
];
const LOST_ORDER: Test = [
  STEPS,
  'when the answer to an order is lost, the order is found by its receipt and there is one',
];
const LOST_DEBIT: Test = [
  RUPEES,
  'an answer to a debit that is lost is asked for: the account is debited once',
];
const SECOND_PAYMENT: Test = [
  STEPS,
  'two payments on one order, both untold: the poll books the first and gives the second back',
];
const REGISTERED: Test = [RUPEES, '%s is registered by the rail’s own event, and what proved it goes back'];
const NOTICE_FAILS: Test = [
  RUPEES,
  'a notice that the rail is asked for and that does not arrive (%s): nothing is debited',
];
const DEBITED: Test = [
  RUPEES,
  'a debit waits a day from the delivery of its notice, is made once, and the next one waits a day',
];
const REFUSED_ORDER: Test = [
  HERE,
  'an order that the rail refuses, as its index of errors says: $description',
];
const UNREAD = 'the text of this id could not be read: the page is known only by its beginning';
const BY_TOOL_LIST = 'only what the list of test tools says of this id';

/** Errors of requests: which error has which id could not be read, so all that the index names are played for each. */
const requestErrors: readonly Played[] = Array.from({ length: 8 }, (_, n) => ({
  id: `ORD-${String(n + 8).padStart(2, '0')}`,
  what: 'a request that the rail refuses fails the top-up, with nothing to pay',
  tests: [
    REFUSED_ORDER,
    [STEPS, 'a rail that answers %i to an order fails the top-up with %s and nothing to pay'],
  ],
  read: 'ORD-08 to ORD-15 are errors of requests; which of the published errors has which id could not be read',
}));

function unread(prefix: string, numbers: readonly number[]): Left[] {
  return numbers.map((n) => ({
    id: `${prefix}-${String(n).padStart(2, '0')}`,
    what: 'not known',
    reason: UNREAD,
  }));
}

const orders: readonly Scenario[] = [
  { id: 'ORD-01', what: 'an order is made on the server, with our own receipt', tests: [PAID] },
  { id: 'ORD-02', what: 'a failed attempt leaves the order open', tests: [FAILED_THEN_PAID] },
  { id: 'ORD-03', what: 'a later attempt pays the same order', tests: [FAILED_THEN_PAID] },
  {
    id: 'ORD-04',
    what: 'the signature of the return is checked over the order that we stored',
    tests: [UNSIGNED_RETURN],
    read: 'its name; the rule is that of BP-02',
  },
  {
    id: 'ORD-05',
    what: 'an order that is asked for again under its receipt is made once',
    tests: [LOST_ORDER],
  },
  {
    id: 'ORD-06',
    what: 'an order and its payments are fetched',
    tests: [POLLED],
    read: 'its name',
  },
  {
    id: 'ORD-07',
    what: 'an order that is paid takes no second payment of ours, and one that comes goes back',
    tests: [SECOND_PAYMENT, [CHECKOUT, 'a page whose top-up is over answers 410 and says what became of it']],
    read: 'its name',
  },
  ...requestErrors,
  {
    id: 'ORD-16',
    what: 'an order is paid in parts',
    reason:
      'no order of ours allows it; a payment of another amount waits for a person ' +
      '("a smallest unit less, more, or another currency: review, no credit, a staff item")',
  },
  ...unread('ORD', [17, 18, 19]),
  { id: 'ORD-20', what: 'an order registers a mandate', tests: [REGISTERED], read: 'its name' },
  {
    id: 'ORD-21',
    what: 'an order of a mandate that the rail refuses leaves a rejected mandate',
    tests: [
      [HERE, 'a registration that the rail refuses is rejected with its words, and can be tried again'],
    ],
    read: 'its name',
  },
  {
    id: 'ORD-22',
    what: 'each debit has a new order',
    tests: [[HERE, 'every debit has an order of its own, under its own receipt']],
    read: 'its name',
  },
];

const practices: readonly Scenario[] = [
  {
    id: 'BP-01',
    what: 'the event books, the return of the browser does not',
    tests: [UNSIGNED_RETURN, PAID],
  },
  { id: 'BP-02', what: 'the signature of the return is verified', tests: [UNSIGNED_RETURN] },
  {
    id: 'BP-03',
    what: 'an event that is sent again is taken once; a changed copy is refused',
    tests: [ANY_ORDER, FORGED],
  },
  {
    id: 'BP-04',
    what: 'our endpoint is away or sleeps: what it missed is booked all the same',
    tests: [POLLED, SWITCHED_OFF, HANGS],
  },
  { id: 'BP-05', what: 'a missed event is found by asking the rail', tests: [RECONCILED] },
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
  { id: 'BP-07', what: 'the answer to a new order is dropped: there is one order', tests: [LOST_ORDER] },
  {
    id: 'BP-08',
    what: 'the answer to a payment is dropped: the payments of its order are read, and one is kept',
    tests: [LOST_DEBIT, SECOND_PAYMENT],
  },
  ...unread('BP', [9]),
  {
    id: 'BP-10',
    what: 'an event that was kept, or a changed copy of it, is sent again',
    tests: [ANY_ORDER, FORGED],
    read: BY_TOOL_LIST,
  },
  {
    id: 'BP-11',
    what: 'our endpoint fails or sleeps ten seconds',
    tests: [HANGS, SWITCHED_OFF],
    read: BY_TOOL_LIST,
  },
  {
    id: 'BP-12',
    what: 'the answer to a refund is dropped: it is made once',
    tests: [
      [STEPS, 'a refund whose answer is lost is asked for again under its key, and is made once'],
      [ALL_REFUNDS, 'a refund over rail-a gives back its share of the tax, also when its answer was lost'],
    ],
  },
  ...unread('BP', [13, 14, 15, 16]),
  {
    id: 'BP-17',
    what: 'methods that are down are hidden by events',
    reason: 'the checkout is the rail’s own and hides them itself; the events are ignored',
  },
  ...unread('BP', [18, 19]),
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
  ...unread(
    'BP',
    Array.from({ length: 15 }, (_, n) => n + 21),
  ),
  {
    id: 'BP-36',
    what: 'methods that are down are read when a page loads',
    reason: 'our page offers no methods: it opens the rail’s own checkout, which does so',
  },
  { id: 'BP-37', what: 'the signature of every event is verified over its raw bytes', tests: [FORGED] },
];

const others: readonly Scenario[] = [
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
    id: 'RFND-…',
    what: 'failures, instant refunds that fall back to the slow way, errors of requests',
    reason: `${UNREAD}; our refunds are normal ones, and their failures are tests of ${ALL_REFUNDS}`,
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
  {
    id: 'SETL-…',
    what: 'a settlement that ends because the balance is too low, reports, errors',
    reason: `${UNREAD}; settlements that differ are tests of ${SETTLEMENTS}`,
  },
];

/** The pages of recurring payments: their ids could not be read, what their beginnings describe is played. */
const recurring: readonly Scenario[] = [
  {
    id: 'card recurring',
    what: 'a mandate is registered, notified, debited, paused and cancelled; events are verified and may repeat',
    tests: [
      REGISTERED,
      DEBITED,
      NOTICE_FAILS,
      [HERE, 'a card is debited 37 hours after its notice, which the rail would refuse after 36'],
    ],
    read: 'the beginning of the page, without ids',
  },
  {
    id: 'UPI Autopay',
    what: 'a mandate is registered, notified, debited, paused and cancelled, also when the event is lost',
    tests: [
      REGISTERED,
      DEBITED,
      NOTICE_FAILS,
      LOST_DEBIT,
      [RUPEES, 'a mandate that its payer pauses and cancels at the bank follows, and is not debited'],
      [
        RUPEES,
        'a mandate that was %s at the bank, of which every event was lost: the rail is asked first, and no rule is broken',
      ],
    ],
    read: 'the beginning of the page, without ids',
  },
];

export const scenarios: readonly Scenario[] = [...orders, ...practices, ...others, ...recurring];
