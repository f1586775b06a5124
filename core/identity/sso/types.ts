// Identity providers as stored.
import type { Id, Role } from '../../kernel/index.ts';

/** Owners are made by owners alone, never by a provider. */
export type MappedRole = Exclude<Role, 'owner'>;

/** Names of the claims that say who comes. */
interface ClaimMap {
  readonly email: string;
  readonly name: string;
  readonly groups: string;
}

export interface OidcConfig {
  readonly issuer: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
  readonly claim_map: ClaimMap;
  /** Whether a person who is no member yet becomes one by coming. */
  readonly jit: boolean;
}

/** What a provider says of itself (OpenID Connect Discovery), as it was sent. */
export type ProviderFacts = Readonly<Record<string, unknown>>;

/** What came of a trial. */
export interface LastTest {
  readonly at: string;
  readonly ok: boolean;
  /** Why not; empty when it went well. */
  readonly reason: string;
  /** What the provider said of the person who tried, so that an admin sees which claims come. */
  readonly email: string;
  readonly name: string;
  readonly groups: readonly string[] | null;
  readonly role: MappedRole | null;
}

export interface Connection {
  readonly org_id: Id<'org'>;
  readonly kind: 'oidc';
  readonly display_name: string;
  readonly status: 'draft' | 'active' | 'disabled';
  readonly enforce: boolean;
  readonly default_role: MappedRole;
  readonly role_map: Readonly<Record<string, MappedRole>>;
  readonly config: OidcConfig;
  readonly metadata: ProviderFacts;
  readonly client_secret: Buffer | null;
  readonly last_test: LastTest | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Whom a provider says that it has signed in. */
export interface Asserted {
  readonly email: string;
  readonly name: string;
  /** Null: the provider says nothing of groups. */
  readonly groups: readonly string[] | null;
  /** Whether it says that a second factor was given. */
  readonly mfa: boolean;
  /** When the person last gave a proof there; null when it does not say. */
  readonly proved_at: Date | null;
}
