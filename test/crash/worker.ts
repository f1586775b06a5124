// The worker of the crash test, made to be killed: the product's jobs, and top-ups. Each line on standard input is a
// `TopUp`, which is booked as the activity of a workflow books it, and answered by its reference when that has committed.
import { createInterface } from 'node:readline';
import { createPool } from '@svc/core/db/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { microUsd, readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { orderCredit } from '@svc/core/ledger/index.ts';
import { openMailTransport } from '@svc/core/mail/index.ts';
import { startJobs } from '@svc/core/operations/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { staffContext } from '../support/provision.ts';
import type { TopUp } from './worker-process.ts';

const config = readConfig();
const url = config.database_url as string;
const pool = createPool(url, { max: 6, role: 'svc_runtime', shards: config.ledger_shards });
startJobs({
  ...{ pool, direct_url: url, log: silentLog, request_log: { write() {}, async flush() {} }, cell: 'crash' },
  money_in: openMoneyIn(config),
  root_key: Buffer.alloc(32, 7),
  egress: openEgress(config),
  mail: await openMailTransport(config),
});

async function book({ shard, book_id, reference, amount_micro_usd }: TopUp): Promise<void> {
  const terms = { kind: 'topup', granted: false, expires_at: null, ref_type: 'topup' } as const;
  const credit = { ...terms, book_id, ref_id: reference, amount_micro_usd: microUsd(amount_micro_usd) };
  try {
    await staffContext(pool).transaction((context) => orderCredit(context, shard, credit));
    process.stdout.write(`booked ${reference}\n`);
  } catch {
    process.stdout.write(`failed ${reference}\n`);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void book(JSON.parse(line) as TopUp));
process.stdout.write('ready\n');
