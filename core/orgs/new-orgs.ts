// Limits against abuse of organizations that people make themselves: the setting `new_orgs`, over the values of the release. What
// staff, `svcctl` or the seed make has none of them.
import { readSetting } from '../db/index.ts';
import type { Db, Environment } from '../kernel/index.ts';
import type { NewOrgLimits, Org } from './types.ts';

const DEFAULTS: NewOrgLimits = { first_rpm: 20, keys_per_hour: 20 };

/** The values in force: those of the release under what staff have set. */
export async function readNewOrgLimits(db: Db): Promise<NewOrgLimits> {
  return { ...DEFAULTS, ...(await readSetting<Partial<NewOrgLimits>>(db, 'new_orgs')) };
}

/**
 * What bounds calls until the first top-up is paid; null: nothing. Play credit is nobody's money, so test keys keep their limits; and
 * what staff have granted for requests was a decision about this organization.
 */
export function trialRates(
  org: Pick<Org, 'awaits_topup' | 'new_org_limits' | 'limit_overrides'>,
  environment: Environment,
): { readonly rpm: number; readonly tpm: null; readonly concurrency: null } | null {
  if (!org.awaits_topup || environment === 'test' || org.limit_overrides.rpm !== undefined) return null;
  const { first_rpm } = { ...DEFAULTS, ...org.new_org_limits };
  return first_rpm === null ? null : { rpm: first_rpm, tpm: null, concurrency: null };
}

/** How many keys can be created in an hour; null: as many as the plan has. */
export function keysPerHour(org: Pick<Org, 'self_made' | 'new_org_limits'>): number | null {
  return org.self_made ? { ...DEFAULTS, ...org.new_org_limits }.keys_per_hour : null;
}
