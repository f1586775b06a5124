// Makes an invite code and prints it, once.
import { makeInviteCode } from '@svc/core/identity/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { rootKey, withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    note: { type: 'text', doc: 'whom or what it is for', value: 'TEXT', length_max: 200, required: true },
    uses: { type: 'integer', doc: 'organizations that it lets be made; default: 1', min: 1, max: 10_000 },
    'expires-days': { type: 'integer', doc: 'days for which it is taken; default: 30', min: 1, max: 365 },
  },
  example: 'svcctl invites create --note "conference in Pune" --uses 50',
  async run(input) {
    const root_key = rootKey();
    return withDatabase(async (pool) => {
      const made = await makeInviteCode(await staffContext(pool), {
        reseller_id: null,
        ...{ note: input.get('note'), root_key },
        max_uses: input.integer('uses') ?? 1,
        expires_days: input.integer('expires-days') ?? 30,
      });
      const { id, code, max_uses } = made;
      const expires_at = made.expires_at.toISOString();
      return {
        json: { id, code, max_uses, expires_at },
        text: `${code}  ${max_uses === 1 ? 'once' : `${max_uses} times`} until ${expires_at}; it is not shown again`,
      };
    });
  },
};
