// A process of its own for the crash tests: opens the ledger on argv, holds and settles on orders read from standard
// input (one JSON object per line), and answers each with a line. It is made to be killed.
import { createInterface } from 'node:readline';
import type { RequestId } from '../../kernel/index.ts';
import { holdOf, openTestLedger, settleOf, subjectOf } from './testing.ts';

interface Order {
  readonly do: 'hold' | 'settle';
  readonly book: number;
  readonly request_id: string;
  readonly micro_usd: number;
}

const [, , url, journal_dir] = process.argv as [string, string, string, string];
const ledger = await openTestLedger(url, journal_dir);
process.stdout.write('{"status":"open"}\n');
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  const subject = subjectOf(order.book);
  const id = order.request_id as RequestId;
  const answer =
    order.do === 'hold'
      ? ledger.hold(holdOf(subject, order.micro_usd, id))
      : ledger.settle(settleOf(subject, id, order.micro_usd));
  process.stdout.write(`${JSON.stringify(await answer)}\n`);
}
