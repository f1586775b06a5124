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
    tests: ['core/ledger/{claims,client,client-alone}.test.ts'],
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
];
