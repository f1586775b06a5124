// What staff do with requests for higher limits. Each act is an entry of the audit log of the organization, an event and
// a mail, in the transaction of the act.
import { findMailboxes, writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import { lockKey, statusAt, updateKey } from '../keys/index.ts';
import { sendMail } from '../mail/index.ts';
import { type LimitOverrides, limitsOf, lockOrg, type Org, setLimitOverrides } from '../orgs/index.ts';
import { writeTicketEvent } from './limit-request.ts';
import { effective, granting } from './limits.ts';
import { closeTicket, findLimitTicket, lockLimitTicket } from './store.ts';
import { type Limits, type LimitTicket, limitNames } from './types.ts';

interface Decision {
  readonly id: Id<'ticket'>;
  /** What the customer reads. */
  readonly answer: string;
}

/** An open request, held by its lock. @throws ServiceError not_found, state_conflict once it was decided. */
async function lockOpen(context: Context, id: Id<'ticket'>): Promise<LimitTicket> {
  const ticket = await lockLimitTicket(context.db, id);
  if (ticket === null) throw notFound();
  if (ticket.status === 'open') return ticket;
  throw new ServiceError('state_conflict', `The request is ${ticket.status} already.`, {
    details: { state: ticket.status },
  });
}

/** Who asked is told; where that was nobody in particular, owners and admins. */
async function mailDecision(
  context: Context,
  { ticket, org, key }: { ticket: LimitTicket; org: Org; key: string },
  outcome: { status: 'approved' | 'rejected'; limits: Limits; answer: string },
): Promise<void> {
  const { created_by: also } = ticket;
  const to = await findMailboxes(context.db, {
    org_id: org.id,
    roles: also === null ? ['owner', 'admin'] : [],
    also,
  });
  const { status, limits, answer } = outcome;
  const { rpm, tpm, concurrency } = limits;
  await sendMail(context, {
    ...{ template: 'limit_request_updated', to, org_id: org.id, reference: ticket.id },
    data: { org: org.name, slug: org.slug, key, status, rpm, tpm, concurrency, answer },
  });
}

/** Overrides that make room for `granted` in an organization whose limits are `most`; null when there is room. */
function overridesFor(org: Org, granted: Limits): LimitOverrides | null {
  const most = limitsOf(org);
  const more = limitNames.flatMap((name) => {
    const [wanted, bound] = [granted[name], most[name]];
    return wanted === null || bound === null || wanted <= bound ? [] : [[name, wanted] as const];
  });
  return more.length === 0 ? null : { ...org.limit_overrides, ...Object.fromEntries(more) };
}

/** The limits that a request names, with those that staff grant instead of what was asked. */
function grantedOf(ticket: LimitTicket, instead: Partial<Limits>): Limits {
  const of = (name: keyof Limits) => (ticket[name] === null ? null : (instead[name] ?? ticket[name]));
  return { rpm: of('rpm'), tpm: of('tpm'), concurrency: of('concurrency') };
}

/**
 * Grants a request, or less or more of what it names: the key gets the limits, and the organization an override of its
 * plan where they lie beyond it. Gateways follow within a second.
 * @throws ServiceError not_found, state_conflict (decided before, or the key has ended).
 */
export function approveRequest(
  context: Context,
  { id, answer, instead = {} }: Decision & { readonly instead?: Partial<Limits> },
): Promise<LimitTicket> {
  return context.transaction(async (context) => {
    const { db } = context;
    const at = context.now();
    const ticket = await lockOpen(context, id);
    const { org_id } = ticket;
    const key = await lockKey(db, { org_id, environment: null, id: ticket.key_id });
    const org = await lockOrg(db, org_id);
    if (key === null || org === null) throw notFound();
    const state = statusAt(key, at);
    if (state !== 'active') {
      throw new ServiceError('state_conflict', `The key is ${state}. Refuse the request.`, {
        details: { state },
      });
    }
    const before = effective(key, limitsOf(org));
    const granted = grantedOf(ticket, instead);
    const limit_overrides = overridesFor(org, granted) ?? org.limit_overrides;
    if (limit_overrides !== org.limit_overrides) await setLimitOverrides(db, { org_id, limit_overrides, at });
    const changed = await updateKey(db, { ...key, ...granting(key, granted) }, at);
    await closeTicket(db, { id, status: 'approved', resolution: answer, at });
    const after = effective(changed, limitsOf({ ...org, limit_overrides }));
    await writeAudit(context, {
      ...{ action: 'staff.limits.approve', org_id },
      target: { type: 'ticket', id, display: ticket.subject },
      before: { ...before, limit_overrides: org.limit_overrides },
      after: { ...after, limit_overrides },
      reason: answer,
    });
    await writeTicketEvent(context, ticket, 'approved');
    await mailDecision(
      context,
      { ticket, org, key: key.name },
      { status: 'approved', limits: after, answer },
    );
    return (await findLimitTicket(db, id)) as LimitTicket;
  });
}

/** Refuses a request: the limits stay as they are. @throws ServiceError not_found, state_conflict. */
export function refuseRequest(context: Context, { id, answer }: Decision): Promise<LimitTicket> {
  return context.transaction(async (context) => {
    const { db } = context;
    const ticket = await lockOpen(context, id);
    const { org_id } = ticket;
    const key = await lockKey(db, { org_id, environment: null, id: ticket.key_id });
    const org = await lockOrg(db, org_id);
    if (key === null || org === null) throw notFound();
    await closeTicket(db, { id, status: 'rejected', resolution: answer, at: context.now() });
    await writeAudit(context, {
      ...{ action: 'staff.limits.refuse', org_id },
      target: { type: 'ticket', id, display: ticket.subject },
      reason: answer,
    });
    await writeTicketEvent(context, ticket, 'rejected');
    const limits = effective(key, limitsOf(org));
    await mailDecision(context, { ticket, org, key: key.name }, { status: 'rejected', limits, answer });
    return (await findLimitTicket(db, id)) as LimitTicket;
  });
}

/**
 * Sets what an organization may use beyond its plan, whoever asked; null withdraws a limit, what is left out stays.
 * @throws ServiceError not_found.
 */
export function overrideLimits(
  context: Context,
  args: { org_id: Id<'org'>; limits: Partial<Limits>; reason: string },
): Promise<LimitOverrides> {
  return context.transaction(async (context) => {
    const org = await lockOrg(context.db, args.org_id);
    if (org === null) throw notFound();
    const set = Object.entries({ ...org.limit_overrides, ...args.limits }).filter(([, n]) => n !== null);
    const limit_overrides = Object.fromEntries(set) as LimitOverrides;
    await setLimitOverrides(context.db, { org_id: org.id, limit_overrides, at: context.now() });
    await writeAudit(context, {
      ...{ action: 'staff.limits.override', org_id: org.id },
      target: { type: 'org', id: org.id, display: org.slug },
      before: { limit_overrides: org.limit_overrides },
      after: { limit_overrides },
      reason: args.reason,
    });
    return limit_overrides;
  });
}
