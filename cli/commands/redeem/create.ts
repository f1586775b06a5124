// Makes a batch of codes and prints them, once.
import { makeBatch } from '@svc/core/redeem/index.ts';
import { type Command, DAYS_MAX, SLUG } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { rootKey, withDatabase } from '../../installation.ts';

/** A billion dollars, as of a grant. */
const AMOUNT_MAX = 1_000_000_000_000_000;

export const command: Command = {
  flags: {
    name: { ...SLUG, doc: 'name of the batch, which who redeems sees', value: 'NAME', required: true },
    'amount-micro': {
      type: 'integer',
      doc: 'micro-USD of each code (1 USD is 1000000)',
      min: 1,
      max: AMOUNT_MAX,
      required: true,
    },
    codes: { type: 'integer', doc: 'how many', min: 1, max: 10_000, required: true },
    'credit-days': {
      type: 'integer',
      doc: 'days until the credit of a redeemed code ends',
      min: 1,
      max: DAYS_MAX,
      required: true,
    },
    'valid-days': {
      type: 'integer',
      doc: 'days for which the codes are taken',
      min: 1,
      max: DAYS_MAX,
      required: true,
    },
    'max-per-org': {
      type: 'integer',
      doc: 'codes of the batch that one organization may redeem; default: 1',
      min: 1,
      max: 10_000,
    },
    country: {
      type: 'text',
      doc: 'billing country that an organization must have; default: any',
      value: 'IN',
      form: [/^[A-Z]{2}$/, 'two capital letters'],
    },
    'new-orgs-only': { type: 'switch', doc: 'only for organizations that have neither paid nor redeemed' },
  },
  example:
    'svcctl redeem create --name devcon-2026 --amount-micro 5000000 --codes 500 --credit-days 90 --valid-days 30',
  async run(input) {
    const amount_micro_usd = input.integer('amount-micro') as number;
    const country = input.find('country');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const valid_days = input.integer('valid-days') as number;
      const { batch, csv } = await makeBatch(context, rootKey(), {
        name: input.get('name'),
        amount_micro_usd,
        codes: input.integer('codes') as number,
        credit_days: input.integer('credit-days') as number,
        valid_until: new Date(context.now().getTime() + valid_days * 86_400_000),
        max_per_org: input.integer('max-per-org') ?? 1,
        country,
        new_org_only: input.has('new-orgs-only'),
      });
      const rows = csv.trimEnd().split('\r\n');
      const codes = rows.slice(1).map((row) => row.slice(0, row.indexOf(',')));
      return { json: { name: batch.name, valid_until: batch.valid_until, codes }, text: rows.join('\n') };
    });
  },
};
