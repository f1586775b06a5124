// The customer's view of the ledger.
import { Type } from 'typebox';
import {
  csv,
  FileAnswer,
  microUsd,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  walkPage,
} from '../kernel/index.ts';
import { catchUp, ENTRY_KINDS, orderCredit, readBalance, readEntries } from '../ledger/index.ts';
import { SANDBOX_CREDIT } from '../orgs/index.ts';
import { displayBalance } from '../topups/index.ts';
import { viewBalance, viewEntries } from './balance.ts';
import { callersBook } from './book.ts';
import { checkInOperation, getCheckinOperation } from './checkin/operations.ts';
import { listLotsOperation } from './lots.ts';
import { reconciliationOperation } from './reconciliation/operation.ts';
import { BalanceView, EntryView } from './schema.ts';
import { countRefill } from './store.ts';

const readers = {
  kind: 'key',
  scopes: ['read:credits'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  while_closed: true,
} as const;
const DEFAULT_LIMIT = 50;
const REFILLS_PER_DAY = 10;
const DAY_MS = 86_400_000;
const ENTRY_FIELDS = Object.keys(EntryView.properties);

const balanceExample = {
  available_micro_usd: 99_998_747,
  held_micro_usd: 0,
  granted_micro_usd: 99_998_747,
  display: { currency: 'USD', amount: '99.99' },
  currency: 'USD',
  fx_rate: '1.00000000',
};
const entryExample = {
  seq: 2,
  kind: 'settle',
  amount_micro_usd: -1_253,
  balance_after_micro_usd: 99_998_747,
  request_id: '01KACZ3V8S6T5R4Q3P2N1M0K9J',
  ref_type: null,
  ref_id: null,
  created_at: '2026-11-21T10:00:01.561Z',
  document_id: null,
  document_number: null,
} as const;

export const getBalanceOperation = operation({
  name: 'credits.get',
  method: 'GET',
  path: '/v1/credits',
  summary: 'Read the balance',
  audience: readers,
  input: Type.Object({}),
  output: BalanceView,
  errors: [],
  example: balanceExample,
  async run(context) {
    const { org, book_id } = await callersBook(context);
    const ledger = context.shards.at(org.shard);
    return viewBalance(await readBalance(ledger, book_id), await displayBalance(context, org));
  },
});

export const listEntriesOperation = operation({
  name: 'credits.ledger',
  method: 'GET',
  path: '/v1/credits/ledger',
  summary: 'List ledger entries, newest first, as JSON or CSV',
  audience: { ...readers, session: ['owner', 'admin', 'billing'] },
  input: Type.Object({
    kind: Type.Optional(oneOf(ENTRY_KINDS, 'LedgerEntryKind')),
    format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
    ...pageInput(500),
  }),
  output: pageOf(EntryView),
  errors: [],
  produces: 'text/csv',
  example: { object: 'list', data: [entryExample], next_cursor: '' },
  async run(context, input) {
    const { org, book_id } = await callersBook(context);
    const ledger = context.shards.at(org.shard);
    const kind = input.kind ?? null;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `credits.ledger ${book_id} ${kind ?? ''}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => readEntries(ledger, { book_id, before_seq: after?.at ?? null, kind, limit }),
      placeOf: (entry) => ({ at: entry.seq, id: '' }),
    });
    const shown = await viewEntries(context.db, rows);
    if (input.format !== 'csv') return page(shown, next_cursor, cursorAt);
    context.header('x-svc-next-cursor', next_cursor);
    return new FileAnswer({
      content_type: 'text/csv; charset=utf-8',
      filename: `ledger-${org.slug}-${context.now().toISOString().slice(0, 10)}.csv`,
      body: csv(ENTRY_FIELDS, shown),
    });
  },
});

export const refillSandboxOperation = operation({
  name: 'credits.sandbox.refill',
  method: 'POST',
  path: '/v1/credits/sandbox/refill',
  summary: 'Top the play balance of test keys up to 100 USD, at most ten times a UTC day',
  audience: { kind: 'key', scopes: 'any', sandbox: 'only', session: ['owner', 'admin', 'developer'] },
  input: Type.Object({}),
  output: BalanceView,
  errors: [],
  idempotent: true,
  example: {
    ...balanceExample,
    available_micro_usd: 100_000_000,
    display: { currency: 'USD', amount: '100.00' },
  },
  run: (context) =>
    context.transaction(async (context) => {
      const { org } = await callersBook(context);
      const book_id = org.sandbox_book_id;
      const display = await displayBalance(context, org);
      const ledger = context.shards.at(org.shard);
      const before = await readBalance(ledger, book_id);
      if (before.available_micro_usd + before.held_micro_usd >= SANDBOX_CREDIT)
        return viewBalance(before, display);
      const now = context.now();
      const day = now.toISOString().slice(0, 10);
      if (!(await countRefill(context.db, { org_id: org.id, day, max: REFILLS_PER_DAY }))) {
        const reset_ms = Date.parse(day) + DAY_MS - now.getTime();
        throw new ServiceError(
          'rate_limit_exceeded',
          `The sandbox balance can be refilled ${REFILLS_PER_DAY} times a day.`,
          {
            details: { limit: 'refills', scope: 'org', limit_value: REFILLS_PER_DAY, reset_ms },
            retry_after_ms: reset_ms,
          },
        );
      }
      // The credit that an earlier refill ordered may not have been booked yet.
      await catchUp(context, book_id);
      const present = await readBalance(ledger, book_id);
      const missing = SANDBOX_CREDIT - present.available_micro_usd - present.held_micro_usd;
      if (missing <= 0) return viewBalance(present, display);
      await orderCredit(context, org.shard, {
        book_id,
        kind: 'grant',
        amount_micro_usd: microUsd(missing),
        granted: true,
        expires_at: null,
        ref_type: 'staff',
        ref_id: `refill ${context.request_id}`,
      });
      // The ledger books it after this transaction, before the answer is sent.
      const filled = {
        available_micro_usd: microUsd(present.available_micro_usd + missing),
        held_micro_usd: present.held_micro_usd,
        granted_micro_usd: microUsd(present.granted_micro_usd + missing),
      };
      return viewBalance(filled, display);
    }),
});

export const creditOperations = [
  getBalanceOperation,
  listEntriesOperation,
  listLotsOperation,
  reconciliationOperation,
  getCheckinOperation,
  checkInOperation,
  refillSandboxOperation,
] as const;
