// A gift for tests of lists and tenants, without a ledger.
import { insertGift, openGift } from '@svc/core/gifts/store.ts';
import { type Context, type Id, newId } from '@svc/core/kernel/index.ts';
import type { Tenant } from './harness.ts';

/** An open gift of `tenant`. */
export async function makeGiftRow(context: Context, tenant: Pick<Tenant, 'org'>): Promise<Id<'gift'>> {
  const id = newId('gift');
  const at = context.now();
  await insertGift(context.db, {
    ...{ id, org_id: tenant.org.id, amount_micro_usd: 1_000_000, hint: '...0000', note: '' },
    ...{
      code_hash: Buffer.from(id),
      hash_key_id: Buffer.alloc(7),
      created_at: at,
      expires_at: new Date(at.getTime() + 3_600_000),
    },
  });
  await openGift(context.db, id);
  return id;
}
