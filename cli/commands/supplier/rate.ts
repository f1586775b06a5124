// Sets the rate of GST from a day on.
import { setGstRate } from '@svc/core/invoices/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    from: {
      type: 'text',
      doc: 'first day, by the date in Kolkata; one that has no documents yet',
      value: 'DAY',
      form: [/^20\d\d-\d\d-\d\d$/, 'a day such as 2027-04-01'],
      required: true,
    },
    bps: {
      type: 'integer',
      doc: 'rate in hundredths of a percent',
      value: '1800',
      max: 10_000,
      required: true,
    },
  },
  example: 'svcctl supplier rate --from 2027-04-01 --bps 1800',
  async run(input) {
    const rate = { from_day: input.get('from'), rate_bps: input.integer('bps') as number };
    return withDatabase(async (pool) => {
      await setGstRate(await staffContext(pool), rate);
      return { json: rate, text: `GST is ${rate.rate_bps / 100} % from ${rate.from_day}.` };
    });
  },
};
