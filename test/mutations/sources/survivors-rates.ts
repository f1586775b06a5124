// Changes to exchange rates and to payments in review that no test notices, each with the reason.
import type { Survivor } from './survivors.ts';

export const ofRates: readonly Survivor[] = [
  {
    file: 'core/topups/fx/source.ts',
    text: 'mirror !== undefined',
    to: 'true',
    why: 'a short cut: what is no text is no address',
  },
  {
    file: 'core/topups/fx/refresh.ts',
    text: 'newest.fx_day >= day.fx_day',
    to: 'newest.fx_day > day.fx_day',
    why: 'a short cut: a day that is known stays as it is',
  },
  {
    file: 'core/topups/fx/refresh.ts',
    text: 'newest === null',
    to: 'false',
    why: 'for types: what jumped has a day before it; where there is none, the other place fails',
  },
  {
    file: 'core/topups/fx/refresh.ts',
    text: 'message.slice(0, 500)',
    to: 'message',
    why: 'no message of a fetch or of a parser is that long',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: `decision.split === 'none'`,
    to: 'true',
    why: 'a start alone: a step down at a time leads to the same amount',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: `decision.split === 'none'`,
    to: 'false',
    why: 'a start alone: a step down at a time leads to the same amount',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: `decision.split === 'none'`,
    to: `decision.split !== 'none'`,
    why: 'a start alone: a step down at a time leads to the same amount',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: `'none'`,
    to: '""',
    why: 'a start alone: a step down at a time leads to the same amount',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: '10_000 + rate_bps',
    to: '10_000 - rate_bps',
    why: 'a start alone: a step down at a time leads to the same amount',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: 'tax.decision.rate_bps === topup.tax.decision.rate_bps',
    to: 'false',
    why: 'a short cut: at its own rate a total buys what its price said',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: 'price === null',
    to: 'false',
    why: 'no rate of tax leaves nothing of what is sold',
  },
  {
    file: 'core/topups/review/reprice.ts',
    text: `throw new Error(\`\${topup.id} buys nothing at the rate of now\`);`,
    to: ';',
    why: 'no rate of tax leaves nothing of what is sold',
  },
  {
    file: 'core/topups/fx/set.ts',
    text: `''`,
    to: '"Stryker was here!"',
    why: 'for types: a text always has a part before its point',
  },
  {
    file: 'core/topups/fx/set.ts',
    text: `'day'`,
    to: '""',
    why: 'for types: every refusal names its field',
  },
  {
    file: 'core/topups/fx/set.ts',
    text: 'of.newest !== null',
    to: 'true',
    why: 'for types: no day is at most null',
  },
  {
    file: 'core/topups/review/decide.ts',
    text: `''`,
    to: '"Stryker was here!"',
    why: 'for types: every top-up has an organization, and that a name',
  },
  {
    file: 'core/topups/review/decide.ts',
    text: 'names.get(topup.id)?.org_name',
    to: 'names.get(topup.id).org_name',
    why: 'for types: every top-up has an organization',
  },
  {
    file: 'core/topups/review/decide.ts',
    text: "'captured'",
    to: '""',
    why: 'for types: only captured payments are booked',
  },
  {
    file: 'core/topups/fx/parse.ts',
    text: 'days[0]?.[1]',
    to: 'days[0][1]',
    why: 'for types: there is one day by then',
  },
];
