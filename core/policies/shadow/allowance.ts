// What limits shadows over all gateways: copies in a day, and what the platform pays for an organization in a day.
import { type Context, type Db, type Id, orgCaller } from '../../kernel/index.ts';
import { type Verdict, validatePolicy } from '../language/validate.ts';
import { findAllowance } from './shadow-store.ts';

export {
  allowanceLeft,
  dropShadowDays,
  findAllowance,
  giveBackShadow,
  readSpending,
  type ShadowDay,
  type Spending,
  setAllowance,
  spendAllowance,
  takeShadow,
} from './shadow-store.ts';

/** Whether the platform may be asked to pay for shadows of the organization. */
async function isPaid(db: Db, org_id: Id<'org'>): Promise<boolean> {
  return (await findAllowance(db, org_id)) !== null;
}

/** The verdict on `yaml`, to be stored as `name`, for the caller's organization and with the names known now. */
export async function judgePolicy(context: Context, yaml: string, name: string | null): Promise<Verdict> {
  const allowed = { shadows_paid: await isPaid(context.db, orgCaller(context).org_id) };
  return validatePolicy(yaml, context.services.catalog(), name, allowed);
}
