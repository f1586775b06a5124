// Grants credit to an organization's book; the ledger records it with the reason.
import { type Environment, microUsd, newUlid } from '@svc/core/kernel/index.ts';
import { bookedCredit, orderCredit } from '@svc/core/ledger/index.ts';
import { type Command, DAYS_MAX } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

const DAY_MS = 86_400_000;
/** A billion dollars. Balances are integers up to 2^53-1 micro-USD, which is nine billion. */
const GRANT_MAX = 1_000_000_000_000_000;

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    environment: { type: 'text', doc: 'default: live', choices: ['live', 'test'] },
    'amount-micro': {
      type: 'integer',
      doc: 'micro-USD (1 USD is 1000000)',
      min: 1,
      max: GRANT_MAX,
      required: true,
    },
    reason: {
      type: 'text',
      doc: 'the reason, which the ledger keeps',
      length_max: 500,
      required: true,
    },
    'expires-days': {
      type: 'integer',
      doc: 'days until what is left of it expires; default: never',
      min: 1,
      max: DAYS_MAX,
    },
  },
  example: 'svcctl credits grant --org acme --amount-micro 5000000 --reason "trial"',
  async run(input) {
    const environment = (input.find('environment') ?? 'live') as Environment;
    const amount_micro_usd = microUsd(input.integer('amount-micro') as number);
    const days = input.integer('expires-days');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const org = await getOrg(context, input.get('org'));
      const at = context.now();
      const book_id = environment === 'live' ? org.live_book_id : org.sandbox_book_id;
      const { reference } = await orderCredit(context, org.shard, {
        book_id,
        amount_micro_usd,
        kind: 'grant',
        granted: true,
        expires_at: days === null ? null : new Date(at.getTime() + days * DAY_MS),
        // The ULID distinguishes two grants with the same reason: the ledger books a reference only once.
        ref_type: 'staff',
        ref_id: `${newUlid()} ${input.get('reason')}`,
      });
      const made = await bookedCredit(context, { book_id, reference });
      const text = `granted ${amount_micro_usd} micro-USD to ${org.slug} (${environment}), ledger entry ${made.seq}`;
      return { json: { lot_id: made.lot_id, seq: made.seq }, text };
    });
  },
};
