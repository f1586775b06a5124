// Recomputes the hash chains of the audit log.
import { verifyAudit } from '@svc/core/identity/index.ts';
import type { Command } from '../command.ts';
import { withDatabase } from '../installation.ts';

export const command: Command = {
  async run() {
    const { entries, faults } = await withDatabase((pool) => verifyAudit(pool));
    const ok = faults.length === 0;
    const lines = faults.map(
      ({ org_id, day, chain_seq, reason }) =>
        `${reason} at ${org_id === '' ? '(no organization)' : org_id} ${day} #${chain_seq}`,
    );
    const text = ok ? `${entries} entries, every chain is whole` : lines.join('\n');
    return { json: { ok, entries, faults }, text, ok };
  },
};
