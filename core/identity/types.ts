// People, memberships and sessions as other concepts see them.
import type { Environment, Id, StaffRole } from '../kernel/index.ts';

export type SignInMethod = 'password' | 'saml' | 'oidc';
export type Transport = 'cookie' | 'bearer';

/** A person as stored. */
export interface Person {
  readonly id: Id<'user'>;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly totp_pending: Buffer | null;
  readonly totp_secret: Buffer | null;
  readonly totp_last_step: number;
  readonly last_seen_at: Date | null;
  readonly created_at: Date;
}

/** A session with everything that a request needs to know of it. */
export interface SessionRow {
  readonly id: Id<'session'>;
  readonly user_id: Id<'user'>;
  readonly email: string;
  readonly org_id: Id<'org'> | null;
  /** The organization whose identity provider made it; null for one by password. It acts there alone. */
  readonly sso_org_id: Id<'org'> | null;
  readonly method: SignInMethod;
  readonly transport: Transport;
  readonly two_factor: boolean;
  readonly ip_prefix: string | null;
  readonly user_agent: string | null;
  readonly proved_at: Date;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly idle_seconds: number;
  readonly expires_at: Date;
}

/** A member of staff as stored. */
export interface StaffMember {
  readonly id: Id<'staff'>;
  readonly email: string;
  readonly password_hash: string;
  readonly totp_secret: Buffer;
  readonly totp_last_step: number;
  readonly roles: readonly StaffRole[];
  readonly status: 'active' | 'disabled';
}

/** The parts of a request that its session check needs. */
export interface SessionProof {
  readonly token: string;
  /** From `?environment=test`. */
  readonly environment: Environment;
  /** From `x-svc-org`: another organization of the person for this one request. */
  readonly org_override: string | null;
  readonly at: Date;
  readonly ip: string | null;
  /** A check by the service itself while a stream is open: no act of the person, so it does not count as activity. */
  readonly passive?: true;
}
