// What rails report of mandates and of the notices that they give before a debit.
import { type Context, isId } from '../kernel/index.ts';
import {
  type CallbackAnswer,
  findTopupByOrder,
  type MandateFact,
  type NoticeFact,
  type RailName,
} from '../topups/index.ts';
import { noteNotice } from './announce.ts';
import { applyMandateFact } from './change.ts';
import { findNamed } from './store.ts';

const NOBODY: CallbackAnswer = { invoice: null, replay: false, topup: null };
const IGNORED: CallbackAnswer = { ...NOBODY, ignored: true };

/** Takes what a rail says of a mandate. One that nobody here has is somebody else's on the same account. */
export async function takeMandateFact(
  context: Context,
  rail: RailName,
  fact: MandateFact,
): Promise<CallbackAnswer> {
  const { mandate_id, setup_ref, token_ref, customer_ref } = fact;
  const found = await findNamed(context.db, { rail, mandate_id, setup_ref, token_ref, customer_ref });
  const [id] = found;
  if (id === undefined || found.length > 1) return IGNORED;
  await applyMandateFact(context, id, fact);
  return NOBODY;
}

/** Takes what a rail says of the notice before a debit. */
export async function takeNoticeFact(
  context: Context,
  rail: RailName,
  fact: NoticeFact,
): Promise<CallbackAnswer> {
  const by_order = await findTopupByOrder(context.db, { rail, order_ref: fact.order_ref });
  const named = fact.topup_id !== null && isId('topup', fact.topup_id) ? fact.topup_id : null;
  const topup_id = by_order ?? named;
  if (topup_id === null) return IGNORED;
  await noteNotice(context, { topup_id, order_ref: fact.order_ref, delivered: fact.delivered });
  return { ...NOBODY, topup: topup_id };
}
