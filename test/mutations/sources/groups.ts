// The files that are changed, and the tests that must notice: a change runs those of its group that reach it.

export interface Group {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
  /** Whether the tests need PostgreSQL, which takes three seconds to start. */
  readonly postgres: boolean;
}

const of = (folder: string, ...names: readonly string[]) => names.map((name) => `${folder}/${name}.ts`);

export const groups: readonly Group[] = [
  {
    sources: of('core/pricing', 'bound', 'price', 'recompute', 'reserve', 'size', 'token-ratio'),
    tests: ['core/pricing/*.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/ledger/checkpoint', 'merkle', 'note', 'statement'),
    tests: ['core/ledger/checkpoint/{merkle,note,statement}.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/ledger/checkpoint', 'check-proof'),
    tests: ['core/ledger/checkpoint/check-proof.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/ledger/checkpoint', 'blocks', 'check', 'proof', 'take'),
    tests: ['core/ledger/checkpoint/{checkpoint,daily,history,shards}.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/ledger/verify', 'book', 'cursor', 'hash', 'lots', 'runs', 'verify'),
    tests: ['core/ledger/verify/{dump,dump-lots,lots}.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/ledger/batch', 'batch', 'encode'),
    tests: ['core/ledger/batch/*.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/ledger/batch', 'batcher'),
    tests: ['core/ledger/batch/batcher*.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/ledger/batch', 'target'),
    tests: ['core/ledger/{client,pooler}.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/ledger/lease', 'lease'),
    tests: ['core/ledger/lease/lease.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/ledger', 'client'),
    tests: ['core/ledger/{claims,client,client-alone,client-late}.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/ledger/shards', 'follow', 'ledgers', 'load'),
    tests: ['core/ledger/shards/ledgers.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/ledger/tasks', 'apply', 'order'),
    tests: ['core/ledger/tasks/{apply,order}.test.ts'],
    postgres: true,
  },
  { sources: of('core/ledger/runs', 'name'), tests: ['core/ledger/runs/name.test.ts'], postgres: false },
  {
    sources: of('core/ledger/journal', 'journal'),
    tests: ['core/ledger/journal/journal.test.ts'],
    postgres: false,
  },
  { sources: of('core/topups', 'decide'), tests: ['core/topups/decide.test.ts'], postgres: false },
  {
    sources: of('core/topups', 'quote', 'currency'),
    tests: ['core/topups/quote.test.ts'],
    postgres: false,
  },
  { sources: of('core/topups', 'money-in'), tests: ['core/topups/money-in.test.ts'], postgres: false },
  { sources: of('core/topups', 'booking'), tests: ['test/topups/booking.test.ts'], postgres: true },
  {
    sources: of('core/topups', 'billing'),
    tests: ['test/topups/billing-{facts,form}.test.ts'],
    postgres: true,
  },
  { sources: of('core/topups', 'callback'), tests: ['test/topups/callback-record.test.ts'], postgres: true },
  { sources: of('core/topups', 'create', 'terms'), tests: ['test/topups/create.test.ts'], postgres: true },
  {
    sources: of('core/topups', 'follow'),
    tests: ['test/topups/{follow-steps,receipt}.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/topups/rails', 'signature', 'read', 'rail-b-event', 'rail-b-dispute', 'rail-b-refund'),
    tests: [
      'core/topups/rails/{read,rail-b,rail-b-words}.test.ts',
      'test/topups/rails/rail-b-refunds.test.ts',
    ],
    postgres: false,
  },
  {
    sources: of('core/topups/rails', 'rail-b', 'rail-b-mandate'),
    tests: ['test/topups/rails/rail-b-{calls,mandates}.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/topups/rails', 'rail-b-books'),
    tests: ['test/topups/rails/rail-b-books.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/topups/rails', 'rail-a-event', 'rail-a-dispute', 'rail-a-refund'),
    tests: ['core/topups/rails/{rail-a,rail-a-words}.test.ts', 'test/topups/rails/rail-a-refunds.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/topups/rails', 'rail-a', 'rail-a-mandate'),
    tests: ['core/topups/rails/rail-a-words.test.ts', 'test/topups/rails/rail-a-{calls,mandates}.test.ts'],
    postgres: false,
  },
  {
    sources: of('core/topups/rails', 'rail-a-books'),
    tests: ['test/topups/rails/rail-a-books.test.ts'],
    postgres: false,
  },
  { sources: of('core/topups/fx', 'parse', 'rates'), tests: ['core/topups/fx/*.test.ts'], postgres: false },
  {
    sources: of('core/topups/fx', 'refresh', 'set', 'source'),
    tests: ['core/topups/fx/*.test.ts', 'test/topups/{fx-fetch,fx-set}.test.ts'],
    postgres: true,
  },
  {
    sources: of('core/topups/review', 'decide', 'reprice'),
    tests: ['core/topups/review/*.test.ts', 'test/topups/review-whole.test.ts'],
    postgres: true,
  },
  { sources: of('core/topups', 'pay-link', 'pay-page'), tests: ['test/topups/pay.test.ts'], postgres: true },
];
