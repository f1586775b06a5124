// Recomputes the receipt of an organization's erasure: its digest, and what there is of the organization now.
import { isId } from '@svc/core/kernel/index.ts';
import {
  changed,
  countKept,
  countRows,
  findErasure,
  receiptDigest,
  steps,
} from '@svc/core/org-erasure/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

/** Staff who look at what is left of an organization are written down there, in its own log. */
const LOOKS = ['audit_chain', 'audit_entry'];
/** Tables of rows that a key, a suite or a run leads to; without these nothing of theirs is there. */
const CHILDREN = ['key_notice', 'people_key_no', 'eval_case', 'eval_call', 'eval_result', 'staff_item'];

export const command: Command = {
  flags: { org: { type: 'text', doc: 'id', value: 'org_…', required: true } },
  example: 'svcctl privacy org-receipt --org org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  async run(input) {
    if (!isId('org', input.get('org'))) throw new UsageError('--org is an id that begins with org_');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const org = await getOrg(context, input.get('org'));
      const erasure = await findErasure(pool, org.id);
      if (erasure?.kept == null || erasure.digest === null) throw new UsageError(`${org.id} has no receipt`);
      const { erased, kept, digest } = erasure;
      const faults: string[] = [];
      if (receiptDigest({ org_id: org.id, erased, kept }) !== digest)
        faults.push('the digest is another one');
      for (const table of steps)
        if (!(table in changed) && ![...CHILDREN, ...LOOKS].includes(table)) {
          const left = await countRows(pool, { table, org_id: org.id });
          if (left > 0) faults.push(`${table} has ${left} rows again`);
        }
      for (const [table, rows] of Object.entries(await countKept(context, org)))
        if (rows < (kept[table] ?? 0)) faults.push(`${table} has ${rows} of ${kept[table]} rows`);
      const ok = faults.length === 0;
      const text = ok ? `the receipt holds: ${digest}` : `the receipt does not hold: ${faults.join('; ')}`;
      return { ok, json: { id: org.id, digest, ok, faults, erased, kept }, text };
    });
  },
};
