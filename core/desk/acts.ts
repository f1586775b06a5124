// Acts that a second person approves, and how each is done with the approval: as if who approves had called it.
import { GRANT, grantApproved } from '../credits/index.ts';
import type { Context, Id, StaffRole } from '../kernel/index.ts';
import { MAKE_CODES, makeApproved } from '../redeem/index.ts';
import { ACCEPT, acceptReview, REFUSE, refuseReview, setRates } from '../topups/index.ts';
import { PROPOSE_PRICE, priceApproved } from './prices/operations.ts';
import { PROPOSE_RATES } from './prices/rates.ts';

/** What an act leaves to show once: the codes of a batch. */
interface Done {
  readonly csv: string | null;
}

interface Asked {
  readonly id: Id<'approval'>;
  readonly reason: string;
}

interface Act {
  /** Who may decide it, besides `super`. */
  readonly roles: readonly StaffRole[];
  /** Does it in the open transaction, with the input that it was asked for with. */
  run(context: Context, input: unknown, asked: Asked): Promise<Done>;
}
// The input was checked by its operation when it was asked for, and is stored as it was.
const act = <Input>(
  run: (context: Context, input: Input, asked: Asked) => Promise<string | null>,
  roles: readonly StaffRole[] = ['finance'],
): Act => ({
  roles,
  run: async (context, input, asked) => ({ csv: await run(context, input as Input, asked) }),
});

type Decided = Parameters<typeof acceptReview>[1];

export const acts: Readonly<Record<string, Act>> = {
  [GRANT]: act(async (context, input: Parameters<typeof grantApproved>[1]) => {
    await grantApproved(context, input);
    return null;
  }),
  [MAKE_CODES]: act(
    async (context, input: Parameters<typeof makeApproved>[1]) => (await makeApproved(context, input)).csv,
  ),
  [ACCEPT]: act(async (context, input: Decided) => {
    await acceptReview(context, input);
    return null;
  }),
  [REFUSE]: act(async (context, input: Decided) => {
    await refuseReview(context, input);
    return null;
  }),
  [PROPOSE_RATES]: act(async (context, input: Parameters<typeof setRates>[1], asked) => {
    await setRates(context, input, asked);
    return null;
  }),
  [PROPOSE_PRICE]: act(
    async (context, input: Parameters<typeof priceApproved>[1], asked) => {
      await priceApproved(context, input, asked);
      return null;
    },
    ['catalog', 'finance'],
  ),
};
