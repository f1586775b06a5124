// A tier and a customer of a reseller, for tests of tenants.
import { newId } from '@svc/core/kernel/index.ts';
import type { Harness, Tenant } from './harness.ts';
import { makeTopup } from './topup-rows.ts';

/** Rows of `reseller`, which has become one. */
export async function makeResellerRows(
  harness: Harness,
  reseller: Tenant,
): Promise<
  Record<'tier' | 'child' | 'allocation' | 'announcement' | 'invite' | 'ticket' | 'invoice', string>
> {
  const query = (text: string, values: unknown[]) => harness.pool.query({ name: '', text, values });
  const tier = newId('tier');
  const at = new Date();
  const child = await harness.makeTenant(`${reseller.org.slug}-child`);
  await query('insert into reseller_tier values ($1, $2, $3, 1250, $4, $4)', [
    ...[tier, reseller.org.id, 'theirs', at],
  ]);
  await query(`update org set kind = 'child', parent_org_id = $2, reseller_tier_id = $3 where id = $1`, [
    ...[child.org.id, reseller.org.id, tier],
  ]);
  const allocation = newId('allocation');
  await query(
    `insert into reseller_allocation (id, org_id, child_org_id, amount_micro_usd, note, status, ledger_seq, expires_at,
                                      created_by, created_at)
     values ($1, $2, $3, 1, '', 'made', 1, $4, 'them', $4)`,
    [allocation, reseller.org.id, child.org.id, at],
  );
  const announcement = newId('announcement');
  await query(
    `insert into reseller_announcement (id, org_id, title, body, severity, starts_at, created_by, created_at, updated_at)
     values ($1, $2, 'said', 'words of a reseller', 'info', $3, 'them', $3, $3)`,
    [announcement, reseller.org.id, at],
  );
  const invite = newId('invite_code');
  await query(
    `insert into invite_code (id, reseller_id, hash, hash_key_id, hint, note, max_uses, expires_at, created_by, created_at)
     select $1, $2, decode(md5($1), 'hex'), 'none', '...', 'theirs', 1, $3, 'them', $3`,
    [invite, reseller.org.id, at],
  );
  const asked = { key: child.key, body: { subject: 'a customer asks', body: 'alone' } };
  const { id: ticket } = (await harness.call('POST', '/v1/tickets', asked)).json() as { id: string };
  await query(
    `insert into reseller_invoicing (org_id, legal_name, address, state_code, sac, series, enabled, updated_at)
     values ($1, 'Theirs', '["1 Road"]', '29', '998315', 'ZZZ', true, $2)`,
    [reseller.org.id, at],
  );
  const { invoice_id: invoice } = await makeTopup(harness.context, child);
  return { tier, child: child.org.id, allocation, announcement, invite, ticket, invoice };
}
