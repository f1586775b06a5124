// Claiming, proving and giving up domains. Who had a domain keeps others from it for thirty days: links to it are still
// followed, and whoever registers a domain anew must not receive somebody else's customers.
import { egressOf, readDomainName } from '../../egress/index.ts';
import { writeAudit } from '../../identity/index.ts';
import { type Context, type Id, invalid, notFound, ServiceError, secureText } from '../../kernel/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import { readDomain } from '../host-name.ts';
import { settingsOf } from '../settings.ts';
import { beginStorefront } from '../store.ts';
import { hastenCertificate } from '../tls/store.ts';
import { defaults } from '../types.ts';
import type { Check } from './faults.ts';
import { judge } from './judge.ts';
import { observe } from './observe.ts';
import {
  type DomainRow,
  deleteDomain,
  findDomain,
  findHolder,
  insertDomain,
  insertPast,
  listDomains,
  listPastTokens,
  lockDomain,
  proveDomain,
} from './store.ts';

export const DOMAINS_MAX = 20;
/** How long nobody else can prove a domain that was proved. */
export const KEPT_MS = 30 * 24 * 3_600_000;
/** A reseller that has mended its records need not wait for the next attempt, and cannot make us ask without end. */
const HASTE_MS = 15 * 60_000;
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

interface At {
  readonly org_id: Id<'org'>;
  readonly domain: string;
}

/** Why a name is no domain of a storefront. */
const refusals = {
  form: 'This is no domain, as ai.acme.example.',
  address: 'This is a network address. Give a name, as ai.acme.example.',
  wildcard: 'A wildcard is no domain. Add each name by itself.',
  shared: 'Nobody owns this name alone. Give one below it, as acme.co.uk.',
  ours: 'This name is of this service.',
} as const;

/** A domain, as the audit log names it. */
export const targetOf = (domain: string) => ({ type: 'storefront_domain', id: domain, display: domain });

/** @throws ServiceError domain_taken when another organization has proved `domain`, or had within thirty days. */
async function refuseTaken(context: Context, at: At): Promise<void> {
  const since = new Date(context.now().getTime() - KEPT_MS);
  const holder = await findHolder(context.acrossOrgs.db, { ...at, since });
  if (holder === null) return;
  if (holder.ended_at === null)
    throw new ServiceError('domain_taken', 'Another organization has proved this domain.', {
      param: 'domain',
    });
  const free_at = new Date(holder.ended_at.getTime() + KEPT_MS).toISOString();
  throw new ServiceError(
    'domain_taken',
    `Another organization had this domain. It can be proved again from ${free_at.slice(0, 10)} on.`,
    { param: 'domain', details: { free_at } },
  );
}

async function getDomain(context: Context, at: At): Promise<DomainRow> {
  const found = await findDomain(context.db, at);
  if (found === null) throw notFound();
  return found;
}

/**
 * Claims a domain; the reseller has a storefront from then on. @throws ServiceError invalid_request, already_exists,
 * domain_taken, plan_limit_reached.
 */
export function claimDomain(context: Context, org_id: Id<'org'>, text: string): Promise<DomainRow> {
  const read = readDomain(text, settingsOf(context.services));
  if (read.fault !== null) throw invalid('domain', read.fault, refusals[read.fault]);
  const { domain } = read;
  return context.transaction(async (context) => {
    // Two requests for the last place take turns.
    const org = await lockOrg(context.db, org_id);
    if (org === null) throw notFound();
    if ((await listDomains(context.db, org_id)).length >= DOMAINS_MAX)
      throw new ServiceError('plan_limit_reached', `A storefront has at most ${DOMAINS_MAX} domains.`, {
        details: { limit: 'storefront_domains', limit_value: DOMAINS_MAX },
      });
    await refuseTaken(context, { org_id, domain });
    const at = context.now();
    await beginStorefront(context.db, { org_id, display_name: org.name, ...defaults, at });
    const token = `svc-verify=${secureText(LETTERS, 32)}`;
    if (!(await insertDomain(context.db, { org_id, domain, token, at })))
      throw new ServiceError('already_exists', 'The domain is in the list already.', { param: 'domain' });
    await writeAudit(context, { action: 'reseller.domains.add', org_id, target: targetOf(domain) });
    return getDomain(context, { org_id, domain });
  });
}

async function prove(context: Context, at: At): Promise<DomainRow> {
  return context.transaction(async (context) => {
    await lockOrg(context.db, at.org_id);
    await lockDomain(context.db, at.domain);
    const before = await getDomain(context, at);
    await refuseTaken(context, at);
    if (!(await proveDomain(context.acrossOrgs.db, { ...at, at: context.now() })))
      throw new ServiceError('domain_taken', 'Another organization has proved this domain.', {
        param: 'domain',
      });
    const at_now = context.now();
    const before_at = new Date(at_now.getTime() - HASTE_MS);
    await hastenCertificate(context.db, { ...at, at: at_now, before: before_at });
    if (before.verified_at === null)
      await writeAudit(context, {
        ...{ action: 'reseller.domains.verify', org_id: at.org_id, target: targetOf(at.domain) },
        after: { verified: true },
      });
    return getDomain(context, at);
  });
}

/**
 * Looks at a domain's records, proves it where its token is found, and says what is wrong. A record that is gone later is no
 * way to lose a domain at once: the daily look counts its misses. @throws ServiceError not_found, domain_taken.
 */
export async function verifyDomain(context: Context, at: At): Promise<{ row: DomainRow; checks: Check[] }> {
  const claim = await getDomain(context, at);
  await refuseTaken(context, at);
  const { base, ca } = settingsOf(context.services);
  const read = readDomainName(at.domain, 253);
  const registered = read.fault === null ? read.registered : at.domain;
  const target = { domain: at.domain, registered, base };
  const observed = await observe(egressOf(context.services), target, claim.token);
  const past_tokens = await listPastTokens(context.db, at);
  const checks = judge(observed, { ...target, token: claim.token, past_tokens, ca });
  const is_there = checks.some(({ name, ok }) => name === 'ownership' && ok);
  return { row: is_there ? await prove(context, at) : claim, checks };
}

/** Gives a domain up. @throws ServiceError not_found. */
export function giveUpDomain(context: Context, at: At): Promise<void> {
  return context.transaction(async (context) => {
    await lockOrg(context.db, at.org_id);
    await lockDomain(context.db, at.domain);
    const { token, verified_at } = await getDomain(context, at);
    const was_proved = verified_at !== null;
    await insertPast(context.db, { ...at, token, was_proved, at: context.now() });
    await deleteDomain(context.db, at);
    await writeAudit(context, {
      ...{ action: 'reseller.domains.remove', org_id: at.org_id, target: targetOf(at.domain) },
      before: { verified: was_proved },
    });
  });
}
