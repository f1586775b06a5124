// Tokens of directories: how they look, and whom one stands for.
import {
  BASE62,
  type Context,
  checksum,
  checksumHolds,
  type ScimCaller,
  secureText,
  sha256,
} from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { ScimFault } from './fault.ts';
import { findTokenByHash, touchToken } from './token-store.ts';

const PREFIX = 'svc_scim_';
const FORM = /^svc_scim_[0-9A-Za-z]{38}$/;

/** A fresh token: 190 random bits and a checksum of six characters. */
export function newScimToken(): string {
  const body = PREFIX + secureText(BASE62, 32);
  return body + checksum(body);
}

/** What is stored of a token: its entropy needs no pepper. */
export function hashScimToken(token: string): Buffer {
  return sha256(token);
}

/** By what people tell a token from others. */
export function hintOfToken(token: string): string {
  return `...${token.slice(-4)}`;
}

function refused(): ScimFault {
  return new ScimFault(
    401,
    null,
    'The token is not known, or has been ended. Make a new one in the console.',
  );
}

/** The directory that `token` stands for. @throws ScimFault 401, and 403 where the organization is closed. */
export async function verifyScimToken(
  context: Pick<Context, 'db' | 'now'>,
  token: string | null,
): Promise<ScimCaller> {
  if (token === null || !FORM.test(token) || !checksumHolds(token)) throw refused();
  const found = await findTokenByHash(context.db, hashScimToken(token));
  if (found === null) throw refused();
  const { id, org_id, hint } = found;
  // A suspended organization may still take people away.
  if ((await findOrg(context.db, org_id))?.status === 'closed')
    throw new ScimFault(403, null, 'The organization is closed.');
  await touchToken(context.db, { id, at: context.now() });
  return { kind: 'scim', org_id, token_id: id, hint };
}
