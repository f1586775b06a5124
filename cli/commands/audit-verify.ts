// Recomputes the hash chains of the audit log.
import { verifyAudit } from '@svc/core/identity/index.ts';
import type { Command } from '../command.ts';
import { withDatabase } from '../installation.ts';

export const command: Command = {
  async run() {
    const { entries, redacted, faults } = await withDatabase((pool) => verifyAudit(pool));
    const ok = faults.length === 0;
    const lines = faults.map(
      ({ org_id, day, chain_seq, reason }) =>
        `${reason} at ${org_id === '' ? '(no organization)' : org_id} ${day} #${chain_seq}`,
    );
    const erased = redacted === 0 ? '' : `, ${redacted} without the names that were erased`;
    const text = ok ? `${entries} entries, every chain is whole${erased}` : lines.join('\n');
    return { json: { ok, entries, redacted, faults }, text, ok };
  },
};
