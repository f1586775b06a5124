// A sign-in that was begun, as it is kept until its answer comes: sealed, under the hash of what the answer must name.
import { type Context, type Id, openColumn, sealColumn, sha256 } from '../../kernel/index.ts';
import { insertFlow } from './connection-store.ts';
import type { SsoFault } from './fault.ts';
import type { OidcChecks } from './oidc.ts';
import type { Asserted } from './types.ts';

export const FLOW_S = 10 * 60;

/** What an answer of a SAML provider said; the browser that began is asked for before it counts. */
export type Outcome =
  | { readonly asserted: Omit<Asserted, 'proved_at'>; readonly proved_at: string | null }
  | { readonly fault: SsoFault['reason'] };

export interface Flow {
  /** What an OpenID provider's answer must match; null for SAML, where the library knows. */
  readonly checks: OidcChecks | null;
  /** Null before a SAML answer has come, and for OpenID. */
  readonly outcome: Outcome | null;
  /** Whether the person must give a proof anew. */
  readonly fresh: boolean;
  /** Path of the console. */
  readonly return_to: string;
  /** Origin of the console that the person came from. */
  readonly origin: string;
  /** The connection as it was: what came over one that was changed since counts for nothing. */
  readonly updated_at: string;
  /** A trial of an admin: nobody is signed in. */
  readonly test: boolean;
}

const COLUMN = 'sso_flow.sealed';

/** Keeps `flow` under `key`; `browser` is the SHA-256 of the cookie of the browser that began. */
export async function storeFlow(
  context: Context,
  stored: { key: string; org_id: Id<'org'>; browser: Buffer; flow: Flow; expires_at: Date },
): Promise<void> {
  const { key, org_id, browser, flow, expires_at } = stored;
  const hash = sha256(key);
  const plain = Buffer.from(JSON.stringify(flow));
  const sealed = sealColumn(context.services.root_key, COLUMN, [org_id, hash], plain);
  await insertFlow(context.db, { hash, org_id, browser, sealed, expires_at });
}

/** What was kept. @throws Error when key ring, row or bytes differ. */
export function openFlow(
  context: Context,
  { org_id, hash, sealed }: { org_id: Id<'org'>; hash: Buffer; sealed: Buffer },
): Flow {
  return JSON.parse(openColumn(context.services.root_key, COLUMN, [org_id, hash], sealed).toString()) as Flow;
}
