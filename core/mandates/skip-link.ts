// The link of a notice that skips its debit. Its token follows from the key ring and is stored nowhere, so that it works
// without signing in.
import { type Context, deriveKey, deriveKeys, equalBytes, hmacSha256, type Id } from '../kernel/index.ts';
import { moneyIn } from '../topups/index.ts';

function tokenOf(context: Pick<Context, 'services'>, id: Id<'topup'>): string {
  return hmacSha256(deriveKey(context.services.root_key, 'skip link'), id).toString('base64url');
}

/** The address at which the debit of a top-up is skipped. */
export function skipUrl(context: Pick<Context, 'services'>, id: Id<'topup'>): string {
  return `${moneyIn(context).base_url}/skip/${id}?t=${tokenOf(context, id)}`;
}

/** Whether `token` skips the debit of `id`, under any key of the ring; compared in constant time. */
export function isSkipToken(context: Pick<Context, 'services'>, id: Id<'topup'>, token: string): boolean {
  const skips = (key: Buffer) =>
    equalBytes(Buffer.from(token), Buffer.from(hmacSha256(key, id).toString('base64url')));
  return deriveKeys(context.services.root_key, 'skip link').some(skips);
}
