// Identity providers as stored.
import type { Id, Role } from '../../kernel/index.ts';
import type { ProviderLogin } from '../sessions/store.ts';

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

/** Names of the attributes that say who comes; null: those that providers commonly send. */
export interface AttributeMap {
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: string | null;
}

interface SamlConfig {
  /** Where the provider's description is fetched every day; null: it was given once. */
  readonly metadata_url: string | null;
  readonly attribute_map: AttributeMap;
  readonly sign_requests: boolean;
  /** Whether answers are taken that nobody here asked for. */
  readonly allow_idp_initiated: boolean;
  readonly jit: boolean;
}

/** What a SAML provider says of itself. */
export interface SamlFacts {
  readonly entity_id: string;
  /** Where browsers go, by HTTP-Redirect. */
  readonly sso_url: string;
  /** In PEM: those whose keys may sign, one to ten. */
  readonly certificates: readonly string[];
}

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

interface ConnectionBase {
  readonly org_id: Id<'org'>;
  /** Host of the storefront whose addresses the provider was given; null: ours. */
  readonly host: string | null;
  readonly display_name: string;
  readonly status: 'draft' | 'active' | 'disabled';
  readonly enforce: boolean;
  readonly default_role: MappedRole;
  readonly role_map: Readonly<Record<string, MappedRole>>;
  readonly client_secret: Buffer | null;
  readonly last_test: LastTest | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** When the description was last fetched from its address; null where there is none. */
  readonly metadata_at: Date | null;
  /** Why the last fetch was of no use; null when it was. */
  readonly metadata_fault: string | null;
}

export interface OidcConnection extends ConnectionBase {
  readonly kind: 'oidc';
  readonly config: OidcConfig;
  readonly metadata: ProviderFacts;
}

export interface SamlConnection extends ConnectionBase {
  readonly kind: 'saml';
  readonly config: SamlConfig;
  readonly metadata: SamlFacts;
}

export type Connection = OidcConnection | SamlConnection;

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
  /** What a sign-out at an OpenID provider will name. */
  readonly login?: ProviderLogin;
}
