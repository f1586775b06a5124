// Makes and ends batches of codes. Their codes are returned once, as CSV, and only their hashes are stored.

import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  csv,
  hashCode,
  invalid,
  newCode,
  notFound,
  type RootKeyRing,
  ServiceError,
} from '../kernel/index.ts';
import { closeBatch, findBatch, insertBatch, insertCodes } from './store.ts';
import type { Batch } from './types.ts';

/** What a batch is made of. */
type WantedBatch = Pick<Batch, 'name' | 'amount_micro_usd' | 'codes' | 'credit_days' | 'valid_until'> &
  Partial<Pick<Batch, 'max_per_org' | 'country' | 'new_org_only'>>;

/** Makes a batch and its codes; `csv` is the only place where they are ever shown. @throws ServiceError already_exists. */
export function makeBatch(
  context: Context,
  root_key: RootKeyRing,
  wanted: WantedBatch,
): Promise<{ batch: Batch; csv: string }> {
  return context.transaction(async (context) => {
    const at = context.now();
    if (wanted.valid_until <= at) throw invalid('valid_until', 'range', 'valid_until lies in the future.');
    const { caller } = context;
    const batch = {
      ...{ max_per_org: 1, country: null, new_org_only: false, ...wanted },
      created_by: caller.kind === 'staff' ? caller.name : 'nobody',
      created_at: at,
    };
    const batch_id = await insertBatch(context.db, batch);
    if (batch_id === null) {
      throw new ServiceError('already_exists', 'There is a batch of this name. Choose another one.', {
        param: 'name',
      });
    }
    const codes = Array.from({ length: batch.codes }, () => newCode('CR'));
    await insertCodes(context.db, {
      batch_id,
      hashes: codes.map((code) => hashCode(root_key, 'credit code', code)),
    });
    const { name, amount_micro_usd, credit_days, max_per_org, country, new_org_only } = batch;
    await writeAudit(context, {
      action: 'staff.redeem.create',
      org_id: null,
      target: { type: 'redeem_batch', id: String(batch_id), display: name },
      after: {
        ...{ amount_micro: amount_micro_usd, codes: codes.length, credit_days, max_per_org, country },
        ...{ new_org_only, valid_until: batch.valid_until.toISOString() },
      },
    });
    const rows = codes.map((code) => ({ code, amount_micro_usd, batch: name }));
    return {
      batch: { ...batch, batch_id, closed_at: null },
      csv: csv(['code', 'amount_micro_usd', 'batch'], rows),
    };
  });
}

/** Ends a batch, so that none of its codes is taken any more; what was redeemed stays. @throws ServiceError not_found. */
export function endBatch(context: Context, name: string): Promise<Batch> {
  return context.transaction(async (context) => {
    const at = context.now();
    const closed = await closeBatch(context.db, { name, at });
    const batch = await findBatch(context.db, name);
    if (batch === null) throw notFound();
    if (closed) {
      const target = { type: 'redeem_batch', id: String(batch.batch_id), display: name };
      await writeAudit(context, { action: 'staff.redeem.close', org_id: null, target });
    }
    return batch;
  });
}
