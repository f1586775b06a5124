// A process that is made to be killed: opens the ledger on argv and does what standard input orders, one JSON object a line,
// all orders at once. Each is answered with a line that has its number.
import { createInterface } from 'node:readline';
import { createPool } from '@svc/core/db/index.ts';
import { microUsd, type RequestId } from '@svc/core/kernel/index.ts';
import { credit, debit, readBalance, ulidToUuid } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  until,
} from '@svc/core/ledger/testing/testing.ts';
import type { Answer, Order } from './operations.ts';

const [, , url, journal_dir, name] = process.argv as [string, string, string, string, string];
const LEASE_SECONDS = 2;
const RELEASE_MS = 10_000;
const ledger = await openTestLedger(url, journal_dir, {
  ...PATIENT,
  process_name: name,
  lease_seconds: LEASE_SECONDS,
});
const pool = createPool(url, { max: 4, application: `svc-ledger ${name}` });

async function isHeld(id: string): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>({
    name: '',
    text: 'select exists (select from ledger.hold where hold_id = $1) as held',
    values: [ulidToUuid(id)],
  });
  return rows[0]?.held === true;
}

async function move({ kind, book, id, amount }: Order & { kind: 'topup' | 'refund' }): Promise<Answer> {
  const reference = { book_id: book, kind, ref_type: kind, ref_id: id, amount_micro_usd: microUsd(amount) };
  if (kind === 'topup') {
    const { replay } = await credit(pool, { ...reference, kind, granted: false, expires_at: null });
    return { answer: replay ? 'replay' : 'moved' };
  }
  const debited = await debit(pool, { ...reference, kind });
  if (debited.status === 'refused') return { answer: 'refused' };
  return { answer: debited.replay ? 'replay' : 'moved' };
}

async function carryOut(order: Order): Promise<Answer> {
  const { kind, book, id, amount } = order;
  const subject = subjectOf(book);
  const request_id = id as RequestId;
  switch (kind) {
    case 'hold':
      return { answer: (await ledger.hold(holdOf(subject, amount, request_id))).status };
    case 'settle': {
      const { status, charged_micro_usd } = await ledger.settle(settleOf(subject, request_id, amount));
      return { answer: status, charged: charged_micro_usd ?? 0 };
    }
    case 'release':
      ledger.release(subject, request_id);
      // A ledger that is broken on purpose may never come to it.
      return until(async () => !(await isHeld(id)), RELEASE_MS).then(
        () => ({ answer: 'done' }),
        () => ({ answer: 'still held' }),
      );
    case 'balance': {
      const { available_micro_usd, held_micro_usd } = await readBalance(pool, book);
      return { answer: 'read', available: available_micro_usd, held: held_micro_usd };
    }
    default:
      return move({ ...order, kind });
  }
}

process.stdout.write('{"open":true}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order & { no: number };
  void carryOut(order).then((answer) =>
    process.stdout.write(`${JSON.stringify({ no: order.no, ...answer })}\n`),
  );
}
