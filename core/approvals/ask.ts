// What one member of staff may do alone, and asking a second one for the rest.
import { writeAudit } from '../identity/index.ts';
import { type Context, canonicalJson, type Id, ServiceError, sha256 } from '../kernel/index.ts';
import { putApproval } from './store.ts';

/** The most that one member of staff moves alone: 100 USD. */
const ALONE_MAX_MICRO_USD = 100_000_000;
const DAY_MS = 86_400_000;
/** How long an act waits for its second person. */
const WAITS_DAYS = 7;

interface Act {
  /** Name of the operation. */
  readonly action: string;
  /** What it is carried out with. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly org_id: Id<'org'> | null;
  /** What moves; null: a price or a rate, which needs a second person whatever it comes to. */
  readonly amount_micro_usd: number | null;
  readonly reason: string;
}

function askerOf({ caller }: Context, action: string): Id<'staff'> | null {
  if (caller.kind !== 'staff') throw new Error(`${action} is an act of staff`);
  return caller.staff_id;
}

/** Stores `act` for a second person and returns its id; asked for again, it is the same one. */
async function keep(context: Context, act: Act, asked_by: Id<'staff'>): Promise<Id<'approval'>> {
  const { action, input, org_id, amount_micro_usd, reason } = act;
  const asked_at = context.now();
  return context.transaction(async (context) => {
    const made = await putApproval(context.db, {
      ...{ id: context.newId('approval'), action, input, input_hash: sha256(canonicalJson(input)) },
      ...{ org_id, amount_micro_usd, reason, asked_by, asked_at },
      expires_at: new Date(asked_at.getTime() + WAITS_DAYS * DAY_MS),
    });
    if (made.is_new)
      await writeAudit(context, {
        ...{ action: 'staff.approvals.ask', org_id, reason },
        target: { type: 'approval', id: made.id, display: action },
        after: { action, amount_micro_usd },
      });
    return made.id;
  });
}

/**
 * Stores an act that always needs a second person, and returns its id.
 * @throws ServiceError permission_denied for `svcctl`, which has no name to tell one person from another.
 */
export async function propose(context: Context, act: Act): Promise<Id<'approval'>> {
  const asker = askerOf(context, act.action);
  if (asker === null) throw new ServiceError('permission_denied', 'A person proposes this, in the console.');
  return keep(context, act, asker);
}

/**
 * Goes on where one person may do this alone: up to 100 USD, and for `svcctl`, which has the database in its hands. Else the act is
 * stored for a second person and refused here; asked for again, it is the same one.
 * @throws ServiceError pending_approval, with the id in `details.approval_id`.
 */
export async function askSecondPerson(
  context: Context,
  act: Act & { readonly amount_micro_usd: number },
): Promise<void> {
  const asker = askerOf(context, act.action);
  if (asker === null || act.amount_micro_usd <= ALONE_MAX_MICRO_USD) return;
  const id = await keep(context, act, asker);
  throw new ServiceError(
    'pending_approval',
    `Above 100 USD this needs a second person. It waits under Approvals for ${WAITS_DAYS} days.`,
    { details: { approval_id: id, limit_micro_usd: ALONE_MAX_MICRO_USD } },
  );
}
