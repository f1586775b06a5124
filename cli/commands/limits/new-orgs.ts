// Shows or changes the limits of organizations that people make themselves.
import { changeNewOrgLimits } from '@svc/core/identity/index.ts';
import { readNewOrgLimits } from '@svc/core/orgs/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 1_000_000;
const bound = (doc: string) => ({ type: 'integer', doc, min: 0, max: MOST }) as const;

export const command: Command = {
  flags: {
    'first-rpm': bound('live requests a minute until the first top-up is paid; 0: no limit of its own'),
    'keys-per-hour': bound('keys that can be created in an hour; 0: as many as the plan has'),
    reason: { type: 'text', doc: 'the reason, which the audit log keeps', length_max: 500 },
  },
  example: 'svcctl limits new-orgs --first-rpm 10 --reason "a wave of sign-ups"',
  async run(input) {
    const given = { first_rpm: input.integer('first-rpm'), keys_per_hour: input.integer('keys-per-hour') };
    const wanted = Object.entries(given).filter(([, n]) => n !== null);
    const change = Object.fromEntries(wanted.map(([name, n]) => [name, n === 0 ? null : n]));
    const reason = input.find('reason');
    if (wanted.length > 0 && reason === null) throw new UsageError('a change needs --reason');
    return withDatabase(async (pool) => {
      const limits =
        reason === null || wanted.length === 0
          ? await readNewOrgLimits(pool)
          : await changeNewOrgLimits(await staffContext(pool), { ...change, reason });
      const shown = (n: number | null) => (n === null ? 'no limit' : String(n));
      const text = [
        `requests a minute until the first top-up is paid  ${shown(limits.first_rpm)}`,
        `keys created in an hour                           ${shown(limits.keys_per_hour)}`,
      ].join('\n');
      return { json: { ...limits }, text };
    });
  },
};
