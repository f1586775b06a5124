// Rows of legal documents, acceptances and sub-processors as the store gives them.
import type { Id } from '../kernel/index.ts';

export const documentKinds = ['tos', 'dpa', 'privacy', 'aup', 'dpdp_notice', 'sccs'] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** What the founder of an organization accepts with it. */
export const foundingKinds: readonly DocumentKind[] = ['tos', 'privacy', 'aup'];

export interface LegalVersion {
  readonly kind: DocumentKind;
  readonly version: string;
  readonly title: string;
  readonly summary: string;
  readonly requires_acceptance: boolean;
  /** Markdown, with placeholders. */
  readonly text: string;
  readonly effective_at: Date;
  readonly published_at: Date;
  readonly published_by: string;
  readonly announced_through: string | null;
}

export interface Acceptance {
  readonly id: number;
  readonly org_id: Id<'org'>;
  readonly user_id: string | null;
  readonly user_email: string | null;
  readonly key_id: string | null;
  readonly kind: DocumentKind;
  readonly version: string;
  readonly accepted_at: Date;
  readonly ip: string | null;
  readonly method: 'click_through' | 'api';
  readonly signer_name: string | null;
  readonly signer_title: string | null;
  readonly text_sha256: Buffer;
}

/** Who processes data for us, as the list says it. */
export interface Subprocessor {
  /** A slug; a provider of the catalog has the one it has there. */
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly location: string;
  readonly purpose: string;
  readonly trains: boolean;
  readonly retention_days: number | null;
  readonly zdr: boolean;
  readonly regions: readonly string[];
}

/** What a list changes of the one before, by ids. */
export interface ListChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

export interface SubprocessorList {
  readonly version: string;
  readonly entries: readonly Subprocessor[];
  readonly change: ListChange;
  readonly notice_days: number;
  readonly published_at: Date;
  readonly effective_at: Date;
  readonly published_by: string;
  readonly announced_through: string | null;
}

/** Setting `legal`: what the texts say of whoever runs this, and since when acceptances are insisted on. */
export interface LegalSetting {
  readonly grievance_officer: string | null;
  readonly dpo_email: string | null;
  readonly enforced_at: string | null;
}
