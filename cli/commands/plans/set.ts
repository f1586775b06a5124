// Changes what a plan costs or allows, for everybody.
import { type PlanId, planIds } from '@svc/core/orgs/index.ts';
import { changeSheet, type SheetChange, viewSheet } from '@svc/core/plans/index.ts';
import type { Command, Flag, Input } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { sheetText } from './show.ts';

const bounds = ['rpm', 'tpm', 'concurrency', 'keys', 'projects'] as const;
const boundFlag: Flag = { type: 'integer', doc: 'limit of the plan, at once; 0: none', max: 1_000_000_000 };

/** The limits that were given, 0 as none. */
function limitsIn(input: Input): Record<string, number | null> {
  const given = bounds.flatMap((name) => {
    const n = input.integer(name);
    return n === null ? [] : [[name, n === 0 ? null : n] as const];
  });
  return Object.fromEntries(given);
}

/** The change as the operation takes it, without what was not given. */
function changeIn(input: Input): SheetChange {
  const limits = limitsIn(input);
  const facts = {
    from: input.find('from'),
    monthly_minor: input.integer('fee-minor'),
    included_micro: input.integer('included-micro'),
    grace_days: input.integer('grace-days'),
    limits: Object.keys(limits).length === 0 ? null : limits,
    name: input.find('name'),
    description: input.find('description'),
    public: input.find('public') === null ? null : input.find('public') === 'on',
  };
  const given = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
  return { plan_id: input.get('plan') as PlanId, reason: input.get('reason'), ...given };
}

export const command: Command = {
  flags: {
    plan: { type: 'text', doc: 'the plan', choices: planIds, required: true },
    from: {
      type: 'text',
      doc: 'first day of the month that the fee begins with; the next month by default',
      value: 'DAY',
      form: [/^20\d\d-\d\d-01$/, 'the first day of a month, such as 2027-01-01'],
    },
    'fee-minor': { type: 'integer', doc: 'fee of a month, in cents', min: 1, max: 100_000_000 },
    'included-micro': { type: 'integer', doc: 'credit of a month, in micro-USD', max: 1_000_000_000_000 },
    'grace-days': { type: 'integer', doc: 'days in which an unpaid fee is tried again', max: 20 },
    ...Object.fromEntries(bounds.map((name) => [name, boundFlag])),
    name: { type: 'text', doc: 'name of the plan, at once', value: 'TEXT', length_max: 60 },
    description: { type: 'text', doc: 'one line about the plan, at once', value: 'TEXT', length_max: 200 },
    public: { type: 'text', doc: 'whether customers can choose it', choices: ['on', 'off'] },
    reason: { type: 'text', doc: 'the reason, which the audit log keeps', length_max: 500, required: true },
  },
  example:
    'svcctl plans set --plan team --fee-minor 5900 --included-micro 55000000 --reason "price list 2027"',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      await changeSheet(context, changeIn(input));
      const sheet = await viewSheet(context);
      return { json: sheet, text: sheetText(sheet) };
    });
  },
};
