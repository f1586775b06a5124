// Addresses that a payer goes to: our page to pay on, for a rail that has none of its own, and the console afterwards.
import { type Context, deriveKey, deriveKeys, equalBytes, hmacSha256, type Id } from '../kernel/index.ts';
import { moneyIn } from './money-in.ts';
import type { RailName } from './types.ts';

/** What has a page of ours where the rail has none. */
type Payable = Id<'topup'> | Id<'mandate'>;

/** The page of a top-up or mandate, without the token that opens it: this is what the database keeps. */
export function payUrl(context: Pick<Context, 'services'>, id: Payable): string {
  return `${moneyIn(context).base_url}/pay/${id}`;
}

/** Opens the page of one top-up or mandate. It follows from the key ring and is stored nowhere. */
function payToken(context: Pick<Context, 'services'>, id: Payable): string {
  return hmacSha256(deriveKey(context.services.root_key, 'pay link'), id).toString('base64url');
}

/** Whether `token` opens the page of `id`, under any key of the ring; compared in constant time. */
export function isPayToken(context: Pick<Context, 'services'>, id: Payable, token: string): boolean {
  const opens = (key: Buffer) =>
    equalBytes(Buffer.from(token), Buffer.from(hmacSha256(key, id).toString('base64url')));
  return deriveKeys(context.services.root_key, 'pay link').some(opens);
}

/** Where a top-up is paid or a mandate registered, as its people open it: the rail's address, or our page with its token. */
export function checkoutUrl(
  context: Pick<Context, 'services'>,
  args: { readonly id: Payable; readonly gateway: RailName; readonly checkout_url: string },
): string {
  const { id, gateway, checkout_url } = args;
  const is_ours = moneyIn(context).rails[gateway]?.opening != null;
  return is_ours ? `${checkout_url}?t=${payToken(context, id)}` : checkout_url;
}

/** Where a payer comes back to in the console. */
export function returnUrl(
  context: Pick<Context, 'services'>,
  args: { slug: string; id: Id<'topup'>; outcome: 'done' | 'back' },
): string {
  return `${moneyIn(context).console_url}/${args.slug}/live/credits?topup=${args.id}&outcome=${args.outcome}`;
}
