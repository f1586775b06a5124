// Puts a day of exchange rates in force that waits because a rate jumped.
import { acceptFxDay } from '@svc/core/topups/index.ts';
import { type Command, UsageError } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';

export const command: Command = {
  flags: {
    day: {
      type: 'text',
      doc: 'day of the rates, as the staff item fx_jump names it',
      value: 'DAY',
      required: true,
    },
  },
  example: 'svcctl fx accept --day 2026-11-21',
  async run(input) {
    const day = input.get('day');
    if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day))) {
      throw new UsageError('--day is a day like 2026-11-21');
    }
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      await acceptFxDay(context, day);
      return { json: { day, accepted: true }, text: `The rates of ${day} are in force.` };
    });
  },
};
