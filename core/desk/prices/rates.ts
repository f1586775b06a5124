// Exchange rates of a day that one member of staff proposes and another one confirms.
import { Type } from 'typebox';
import { propose } from '../../approvals/index.ts';
import { currencies, idOf, lineOf, oneOf, operation } from '../../kernel/index.ts';
import { planRates, rateText, type WantedRates } from '../../topups/index.ts';

export const PROPOSE_RATES = 'staff.fx.propose';
type Other = WantedRates['rates'][number]['currency'];
const others = currencies.filter((currency): currency is Other => currency !== 'USD');

export const proposeRatesOperation = operation({
  name: PROPOSE_RATES,
  method: 'POST',
  path: '/staff/fx/propose',
  summary: 'Propose exchange rates of a day that is not in force yet; a second person confirms them',
  audience: { kind: 'staff', roles: ['finance'] },
  input: Type.Object({
    day: Type.String({
      format: 'date',
      maxLength: 10,
      description: 'today, or a day since the newest in force',
    }),
    rates: Type.Array(
      Type.Object({
        currency: oneOf(others),
        rate: Type.String({
          pattern: '^\\d{1,7}(\\.\\d{1,8})?$',
          maxLength: 16,
          description: 'units for one US dollar; the other currencies stay as they are',
        }),
      }),
      { minItems: 1, maxItems: 8 },
    ),
    source: lineOf(200),
    reason: lineOf(500),
  }),
  output: Type.Object({ approval_id: idOf('approval') }),
  errors: [],
  example: { approval_id: 'apr_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  async run(context, { reason, ...input }) {
    const { before } = await planRates(context, input);
    // Who confirms sees it beside what the rate was.
    const was = input.rates.map(({ currency }) => ({ currency, rate: rateText(before.rates[currency]) }));
    const kept = { ...input, before: was, before_day: before.fx_day };
    const act = { action: PROPOSE_RATES, input: kept, org_id: null, amount_micro_usd: null, reason };
    return { approval_id: await propose(context, act) };
  },
});
