// Computes what a key allows from its row and from its organization. Pure.
import type { Environment } from '../../kernel/index.ts';
import { type GrantFacts, legalCallsEnd, limitsOf, projectLimits, trialRates } from '../../orgs/index.ts';
import type { RedactionSettings } from '../../redaction/index.ts';
import type { Grant, KeyDataPolicy, KeyGrant, KeyRow, KeyStatus, OwnDataPolicy } from '../types.ts';

/** The status a caller sees at `now`; the end is exclusive. */
export function statusAt(key: Pick<KeyRow, 'status' | 'expires_at' | 'blocked_at'>, now: Date): KeyStatus {
  if (key.status === 'revoked') return 'revoked';
  if (key.expires_at !== null && key.expires_at.getTime() <= now.getTime()) return 'expired';
  return key.blocked_at === null ? key.status : 'blocked';
}

/** The stricter of the organization's and the key's preferences; no region in common leaves an empty list. */
export function combinePolicies(org: GrantFacts['data_policy'], key: OwnDataPolicy | null): KeyDataPolicy {
  const zdr = org.zdr || key?.zdr === true;
  const own = key?.regions ?? [];
  // Absent from rows that an earlier release wrote.
  const redact = (org.redact as RedactionSettings | undefined) ?? null;
  const regions =
    org.regions.length === 0 ? own : org.regions.filter((r) => own.length === 0 || own.includes(r));
  return {
    logging: org.logging === 'on' && org.retention_days > 0 && key?.logging !== 'off' && !zdr,
    zdr,
    no_train: org.no_train || key?.no_train === true,
    regions: org.regions.length === 0 && own.length === 0 ? null : regions,
    redact: redact !== null && redact.presets.length + redact.patterns.length > 0 ? redact : null,
  };
}

/** What comes from the organization and the project, for calls that count under `key_no`. */
export function inherited(
  facts: GrantFacts,
  key: {
    readonly environment: Environment;
    readonly key_no: number;
    readonly data_policy: OwnDataPolicy | null;
  },
): Pick<Grant, 'subject' | 'data_policy' | 'org_pepper' | 'tier_bps'> & {
  limits: Omit<Grant['limits'], 'key'>;
} {
  const is_live = key.environment === 'live';
  return {
    subject: {
      shard: facts.shard,
      book_id: is_live ? facts.live_book_id : facts.sandbox_book_id,
      key_no: key.key_no,
      project_no: is_live ? facts.live_no : facts.sandbox_no,
    },
    data_policy: combinePolicies(facts.data_policy, key.data_policy),
    org_pepper: facts.pepper,
    tier_bps: facts.tier_bps,
    limits: {
      project: projectLimits(facts),
      trial: trialRates(facts, key.environment),
      plan: limitsOf(facts),
    },
  };
}

/** The grant behind a key that is not revoked, of an organization that is active. */
export function grantOf(key: KeyRow, facts: GrantFacts): KeyGrant {
  const { org_id, project_id, id: key_id, environment, scopes, expires_at, data_policy } = key;
  const { limits, ...rest } = inherited(facts, { environment, key_no: key.chain_no, data_policy });
  return {
    caller: {
      ...{ kind: 'key', org_id, project_id, key_id, environment, scopes, expires_at },
      ...(facts.tier_bps === null ? {} : { tier_bps: facts.tier_bps }),
    },
    ...{ org_id, project_id, key_id, environment, scopes },
    ...rest,
    limits: { ...limits, key: { rpm: key.rpm, tpm: key.tpm, concurrency: key.concurrency } },
    svc_version: key.svc_version,
    expires_at,
    calls_end_at: legalCallsEnd(facts.legal_outstanding_since),
  };
}
