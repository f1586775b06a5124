// Organizations and projects as other concepts see them. Columns and wire shapes carry the same names.
import type { Environment, Id, ResellerGrant, Role } from '../kernel/index.ts';
import type { RedactionSettings } from '../redaction/index.ts';
import type { PlanLimits } from './plans.ts';

export interface OrgDataPolicy {
  readonly logging: 'on' | 'off';
  readonly retention_days: number;
  readonly zdr: boolean;
  readonly no_train: boolean;
  /** Empty: any region. */
  readonly regions: readonly string[];
  readonly redact: RedactionSettings;
}

export type OrgKind = 'team' | 'personal' | 'reseller' | 'child';
export type OrgStatus = 'active' | 'suspended' | 'closed';

/** Limits that staff granted an organization beyond its plan. */
export interface LimitOverrides {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

/** Limits against abuse of organizations that people make themselves. */
export interface NewOrgLimits {
  /** Live requests a minute until the first top-up is paid; null: none but those of the plan. */
  readonly first_rpm: number | null;
  /** Keys that can be created in an hour; null: as many as the plan has. */
  readonly keys_per_hour: number | null;
}

export interface Org {
  readonly id: Id<'org'>;
  readonly slug: string;
  readonly name: string;
  readonly kind: OrgKind;
  /** Its reseller; null unless it is a child. */
  readonly parent_org_id: Id<'org'> | null;
  /** The tier of its reseller that it pays; null: catalog prices. */
  readonly reseller_tier_id: Id<'tier'> | null;
  readonly status: OrgStatus;
  readonly plan_id: string;
  /** What staff changed of the limits of its plan; null: nothing. */
  readonly plan_limits: Partial<PlanLimits> | null;
  readonly limit_overrides: LimitOverrides;
  /** A person made it by signing up. */
  readonly self_made: boolean;
  /** It was made so, and has not paid yet. */
  readonly awaits_topup: boolean;
  /** What staff set of the limits of such organizations; null: nothing (new-orgs.ts). */
  readonly new_org_limits: Partial<NewOrgLimits> | null;
  readonly billing_country: string;
  readonly billing_currency: string;
  readonly data_policy: OrgDataPolicy;
  readonly settings: { readonly security?: OrgSecurity };
  /** The ledger that its books are in. */
  readonly shard: string;
  readonly live_book_id: number;
  readonly sandbox_book_id: number;
  readonly created_at: Date;
}

export interface Project {
  readonly id: Id<'project'>;
  /** Number in holds, windows and metering records of the live book. */
  readonly live_no: number;
  /** The same in the sandbox book, for test keys. */
  readonly sandbox_no: number;
  readonly org_id: Id<'org'>;
  readonly slug: string;
  readonly name: string;
  readonly environment: Environment;
  readonly status: 'active' | 'archived';
  readonly budget_monthly_micro: number | null;
  readonly budget_hard: boolean;
  readonly alerts: readonly number[];
  /** Limits of all its keys together; null: only those of the key and the plan. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  /** The Kubernetes object that keeps it. */
  readonly managed_by: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A pepper as it is stored: one of the two. */
export interface PepperRow {
  readonly pepper: Buffer | null;
  readonly pepper_sealed: Buffer | null;
}

/** What a key inherits from its organization and project. */
export interface GrantFacts {
  readonly status: OrgStatus;
  /** Why it is suspended, where no person did it. */
  readonly suspended_for: 'payment_hold' | null;
  readonly plan_id: string;
  /** What staff changed of the limits of its plan; null: nothing. */
  readonly plan_limits: Partial<PlanLimits> | null;
  readonly limit_overrides: LimitOverrides;
  /** A person made it, and it has not paid yet. */
  readonly awaits_topup: boolean;
  /** What staff set of the limits of such organizations; null: nothing (new-orgs.ts). */
  readonly new_org_limits: Partial<NewOrgLimits> | null;
  readonly data_policy: OrgDataPolicy;
  readonly pepper: Buffer;
  readonly shard: string;
  readonly live_book_id: number;
  readonly sandbox_book_id: number;
  /** What the organization pays above catalog prices as a reseller's customer; null: it is nobody's. */
  readonly tier_bps: number | null;
  /** Since when it owes an acceptance of terms, or will; null: it owes none. */
  readonly legal_outstanding_since: Date | null;
  readonly live_no: number;
  readonly sandbox_no: number;
  /** Limits of the project: all its keys together. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

/** `settings.security` of an organization, as far as sign-in reads it. */
interface SecuritySettings {
  readonly session_hours?: number;
  readonly require_2fa?: boolean;
  /** Whether a sign-in at the identity provider counts as a second factor; absent: it does. */
  readonly sso_counts_as_2fa?: boolean;
  /** Networks that sessions may come from; empty or absent: all. */
  readonly console_ip_allow?: readonly string[];
}

/** `settings.security` with what holds for keys as well. */
export interface OrgSecurity extends SecuritySettings {
  /** Days after which keys end that were made without an end; 0 or absent: they do not end. */
  readonly key_default_expiry_days?: number;
  /** What becomes of the keys of a member who is suspended or removed; absent: block. */
  readonly on_deprovision_keys?: 'block' | 'keep' | 'transfer';
  /** Who gets them where they are transferred. */
  readonly transfer_keys_to?: string;
}

/** An organization as one of its active members sees it. */
export interface Membership {
  readonly org_id: Id<'org'>;
  readonly slug: string;
  readonly name: string;
  readonly org_kind: OrgKind;
  /** What it pays above catalog prices as a reseller's customer; null: it is nobody's. */
  readonly tier_bps: number | null;
  readonly role: Role;
  /** What a reseller gave the member besides the role. */
  readonly grants: readonly ResellerGrant[];
  readonly source: Member['source'];
  readonly org_status: OrgStatus;
  readonly closed_at: Date | null;
  /** Why it is suspended where no person did it. */
  readonly suspended_for: 'payment_hold' | null;
  readonly security: SecuritySettings;
}

/** A person's place in an organization. */
export interface Member {
  readonly org_id: Id<'org'>;
  readonly user_id: Id<'user'>;
  readonly role: Role;
  /** What a reseller gave the member besides the role. */
  readonly grants: readonly ResellerGrant[];
  readonly status: 'active' | 'suspended';
  readonly source: 'invite' | 'sso' | 'scim' | 'owner';
  readonly joined_at: Date;
}
