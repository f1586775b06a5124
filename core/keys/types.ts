// A key as the hot path holds it: one immutable object per key in a bounded cache, dropped on invalidation.
import type { Environment, Id, KeyCaller, Scope } from '../kernel/index.ts';
import type { PlacedSubject } from '../ledger/index.ts';
import type { RedactionSettings } from '../redaction/index.ts';

interface KeyLimits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

export interface KeyDataPolicy {
  readonly logging: boolean;
  readonly zdr: boolean;
  readonly no_train: boolean;
  /** null: any region. */
  readonly regions: readonly string[] | null;
  /** What is taken out of each request before anything else; null: nothing. */
  readonly redact: RedactionSettings | null;
}

/** On whose behalf a call is made, and what holds for it; everything a call needs without another look-up. */
export interface Grant {
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly key_id: Id<'key'>;
  readonly environment: Environment;
  readonly subject: PlacedSubject;
  /** All hold: the key's own, those of its project over all keys of it, its plan's over the whole organization. */
  readonly limits: {
    readonly key: KeyLimits;
    /** Null: the project has none. */
    readonly project: KeyLimits | null;
    /** Until the first top-up is paid, over the whole organization; null: nothing. */
    readonly trial: KeyLimits | null;
    readonly plan: KeyLimits;
  };
  /** Org policy and key policy combined. */
  readonly data_policy: KeyDataPolicy;
  /** What the organization pays above catalog prices as a reseller's customer; null: it is nobody's. */
  readonly tier_bps: number | null;
  readonly svc_version: string;
  /** 32 bytes per org; user ids and cache keys are HMACed with it before they leave the process. */
  readonly org_pepper: Buffer;
}

/** What a verified key allows. */
export interface KeyGrant extends Grant {
  readonly caller: KeyCaller;
  readonly scopes: readonly Scope[];
  readonly expires_at: Date | null;
  /** From then on no call is made: terms have waited too long to be accepted. Null: none wait. */
  readonly calls_end_at: Date | null;
}

/** The key check of one process: `verify` answers from memory where it can. */
export interface KeyRing {
  /**
   * The grant behind `secret`.
   * @throws ServiceError invalid_api_key (details.reason unknown, revoked, expired, checksum), org_inactive,
   * service_unavailable when PostgreSQL cannot be asked (a database fault is never an authentication fault).
   */
  verify(secret: string): KeyGrant | Promise<KeyGrant>;
  /** Drops a key from this process at once; other processes hear of it by NOTIFY and a short poll. */
  forget(key_id: Id<'key'>): void;
  close(): Promise<void>;
}

/** A key as stored, without its hash; `status` is not yet aware of the clock (see `statusAt`). */
export interface KeyRow {
  readonly id: Id<'key'>;
  readonly key_no: number;
  readonly chain_no: number;
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly environment: Environment;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly Scope[];
  readonly status: 'active' | 'rotating' | 'revoked';
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly budget_daily_micro: number | null;
  readonly budget_hard: boolean;
  readonly alerts: readonly number[];
  readonly svc_version: string;
  readonly data_policy: OwnDataPolicy | null;
  readonly created_by: string | null;
  readonly managed_by: string | null;
  readonly rotated_from: Id<'key'> | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** Since when the key waits for the person who made it; null: it works. */
  readonly blocked_at: Date | null;
}

/** A key's own data policy: each member may only be stricter than the organization's. */
export interface OwnDataPolicy {
  readonly logging?: 'on' | 'off';
  readonly zdr?: boolean;
  readonly no_train?: boolean;
  readonly regions?: readonly string[];
}

export type KeyStatus = 'active' | 'rotating' | 'blocked' | 'revoked' | 'expired';

declare module '../kernel/operation/operation.ts' {
  interface Services {
    readonly key_ring: KeyRing;
  }
}
