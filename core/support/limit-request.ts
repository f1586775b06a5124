// Requests for higher limits: granted in the transaction that asks where the plan has room, else decided by staff.
import { writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound, orgCaller } from '../kernel/index.ts';
import { type KeyRow, lockKey, sightOf, statusAt, updateKey } from '../keys/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { limitsOf, lockOrg } from '../orgs/index.ts';
import { effective, granting, obstacleOf } from './limits.ts';
import { countRaises, findLimitTicket, insertLimitTicket } from './store.ts';
import { askerOf } from './tickets.ts';
import { type Limits, type LimitTicket, limitNames, type TicketStatus } from './types.ts';

const DAY_MS = 86_400_000;

const words: Readonly<Record<keyof Limits, (n: string) => string>> = {
  rpm: (n) => `${n} requests a minute`,
  tpm: (n) => `${n} tokens a minute`,
  concurrency: (n) => `${n} calls at once`,
};

function subjectOf(key: KeyRow, requested: Limits): string {
  const parts = limitNames.flatMap((name) => {
    const asked = requested[name];
    return asked === null ? [] : [words[name](asked.toLocaleString('en-US'))];
  });
  return `${key.name.slice(0, 40)}: ${parts.join(', ')}`;
}

/** What subscribers of webhooks hear when a request is decided (docs/webhooks.md#events). */
export function writeTicketEvent(
  context: Context,
  ticket: Pick<LimitTicket, 'id' | 'org_id'>,
  status: TicketStatus,
): Promise<void> {
  const payload = { ticket_id: ticket.id, kind: 'limit_increase', status };
  return writeEvent(context.db, {
    ...{ org_id: ticket.org_id, topic: 'limit.request.updated', payload, at: context.now() },
  });
}

interface Asked {
  readonly ticket: LimitTicket;
  /** What holds for the key now. */
  readonly applied: Limits;
}

/**
 * Asks for the limits `requested` for a key, in a transaction of `context`. Requests for one key take turns by its lock,
 * so that of many at once no more than three a day are granted without a person.
 * @throws ServiceError not_found for a key that the caller does not see.
 */
export async function requestLimits(
  context: Context,
  args: { key_id: Id<'key'>; requested: Limits; reason: string },
): Promise<Asked> {
  const { db } = context;
  const caller = orgCaller(context);
  const { org_id } = caller;
  const key = await lockKey(db, { org_id, environment: sightOf(caller), id: args.key_id });
  // The key before the organization, as whoever changes a key locks.
  const org = key === null ? null : await lockOrg(db, org_id);
  if (key === null || org === null) throw notFound();
  const { requested, reason } = args;
  const at = context.now();
  const plan_max = limitsOf(org);
  const { rpm, tpm, concurrency } = plan_max;
  const current = effective(key, plan_max);
  const raises_today = await countRaises(db, {
    chain_no: key.chain_no,
    since: new Date(at.getTime() - DAY_MS),
  });
  const is_active = statusAt(key, at) === 'active';
  const automatic = obstacleOf({ requested, most: plan_max, is_active, raises_today }) === null;
  const granted = automatic ? await updateKey(db, { ...key, ...granting(key, requested) }, at) : key;
  const id = context.newId('ticket');
  const status = automatic ? 'approved' : 'open';
  await insertLimitTicket(db, {
    ...{ id, org_id, status, environment: key.environment, key_id: key.id, chain_no: key.chain_no },
    ...{ subject: subjectOf(key, requested), ...requested, automatic, created_at: at },
    body: { key_id: key.id, requested, current, plan_max: { rpm, tpm, concurrency }, reason },
    created_by: askerOf(context),
  });
  const applied = effective(granted, plan_max);
  await writeAudit(context, {
    action: 'limits.requests.create',
    org_id,
    target: { type: 'key', id: key.id, display: key.hint },
    before: { ...current },
    after: { ticket_id: id, status, ...(automatic ? applied : { requested }) },
    reason,
  });
  if (automatic) await writeTicketEvent(context, { id, org_id }, 'approved');
  return { ticket: (await findLimitTicket(db, id)) as LimitTicket, applied };
}
