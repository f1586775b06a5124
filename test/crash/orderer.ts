// A process to kill: orders a movement of credit and a budget for a book in one transaction, on argv: the database,
// further ledgers as in SVC_LEDGER_SHARDS, the organization's slug, `credit`, `debit` or `restore`, its reference, the
// amount, a key.
import { createPool } from '@svc/core/db/index.ts';
import { type Context, microUsd, readConfig } from '@svc/core/kernel/index.ts';
import { orderBudget, orderCredit, orderDebit, orderRestore } from '@svc/core/ledger/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { staffContext } from '../support/provision.ts';

const [, , url = '', shards = '', slug = '', what = '', ref_id = '', amount = '', key_no = ''] = process.argv;
const { ledger_shards } = readConfig({ SVC_LEDGER_SHARDS: shards });
const pool = createPool(url, { max: 2, shards: ledger_shards });
const { shard, live_book_id: book_id } = (await findOrg(pool, slug)) as Org;
const amount_micro_usd = microUsd(Number(amount));

function orderMovement(context: Context): Promise<unknown> {
  if (what === 'restore')
    return orderRestore(context, shard, { book_id, debit_kind: 'gift', ref_type: 'gift', ref_id });
  if (what === 'debit')
    return orderDebit(context, shard, { book_id, kind: 'gift', amount_micro_usd, ref_type: 'gift', ref_id });
  const terms = { kind: 'topup', granted: false, expires_at: null, ref_type: 'topup' } as const;
  return orderCredit(context, shard, { ...terms, book_id, amount_micro_usd, ref_id });
}

await staffContext(pool).transaction(async (context) => {
  await orderMovement(context);
  const subject = { key_no: Number(key_no) };
  await orderBudget(context, shard, { book_id, subject, cap_micro_usd: amount_micro_usd });
});
process.stdout.write('done\n');
await pool.end();
