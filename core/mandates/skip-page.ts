// What the page behind the link of a notice shows and does, without signing in.
import { type Context, type Id, isId, notFound, ServiceError } from '../kernel/index.ts';
import { findBilling } from '../orgs/index.ts';
import { findTopup, formatAmount, moneyIn } from '../topups/index.ts';
import { skipAttempt } from './attempt.ts';
import { findAttempt } from './auto-store.ts';
import { isSkipToken } from './skip-link.ts';
import type { Attempt } from './types.ts';

/** A debit that was announced, as its page shows it. */
export interface SkipPage {
  readonly state: 'open' | 'skipped' | 'made' | 'over';
  readonly org_name: string;
  /** As people read it. */
  readonly total: string;
  readonly back_url: string;
}

function stateOf({ status, sent_at, ended_at }: Attempt): SkipPage['state'] {
  if (status === 'skipped') return 'skipped';
  if (sent_at !== null) return 'made';
  return ended_at === null ? 'open' : 'over';
}

/** A wrong token is told from an unknown debit by nothing. @throws ServiceError not_found. */
async function opened(
  context: Context,
  args: { id: string; token: string },
): Promise<{ id: Id<'topup'>; attempt: Attempt }> {
  const { id, token } = args;
  const is_right = isId('topup', id) && isSkipToken(context, id, token);
  const attempt = is_right ? await findAttempt(context.db, { topup_id: id }) : null;
  if (!is_right || attempt === null) throw notFound();
  return { id, attempt };
}

/** The page of a debit. @throws ServiceError not_found. */
export async function readSkipPage(context: Context, args: { id: string; token: string }): Promise<SkipPage> {
  const { id, attempt } = await opened(context, args);
  const topup = await findTopup(context.db, { id, org_id: null });
  const billing = await findBilling(context.db, attempt.org_id);
  if (topup === null || billing === null) throw notFound();
  return {
    state: stateOf(attempt),
    org_name: billing.name,
    total: formatAmount(topup.total_minor, topup.currency),
    back_url: `${moneyIn(context).console_url}/${billing.slug}/live/credits`,
  };
}

/** Skips a debit by its link; where that is too late, the page says so. @throws ServiceError not_found. */
export async function skipByLink(context: Context, args: { id: string; token: string }): Promise<SkipPage> {
  const { id } = await opened(context, args);
  try {
    await skipAttempt(context, { topup_id: id, org_id: null });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'state_conflict') throw error;
  }
  return readSkipPage(context, args);
}
