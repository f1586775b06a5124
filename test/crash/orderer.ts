// A process to kill: orders a credit and a budget for a book in one transaction, on argv: the database, further ledgers
// as in SVC_LEDGER_SHARDS, the organization's slug, the amount.
import { createPool } from '@svc/core/db/index.ts';
import { microUsd, readConfig } from '@svc/core/kernel/index.ts';
import { orderBudget, orderCredit } from '@svc/core/ledger/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { staffContext } from '../support/provision.ts';

const [, , url = '', shards = '', slug = '', amount = '', key_no = ''] = process.argv;
const { ledger_shards } = readConfig({ SVC_LEDGER_SHARDS: shards });
const pool = createPool(url, { max: 2, shards: ledger_shards });
const { shard, live_book_id: book_id } = (await findOrg(pool, slug)) as Org;
await staffContext(pool).transaction(async (context) => {
  await orderCredit(context, shard, {
    book_id,
    kind: 'topup',
    amount_micro_usd: microUsd(Number(amount)),
    granted: false,
    expires_at: null,
    ref_type: 'topup',
    ref_id: `killed ${amount}`,
  });
  const cap_micro_usd = microUsd(Number(amount));
  await orderBudget(context, shard, { book_id, subject: { key_no: Number(key_no) }, cap_micro_usd });
});
process.stdout.write('done\n');
await pool.end();
