// Whose customers are served at the host of a request. Storefronts know of people and not the other way round, so they say it here.
import { type Context, type Id, ServiceError, type SignUpMode } from '../kernel/index.ts';
import { belongsAt } from '../orgs/index.ts';

/** The reseller whose customers are served at a host. */
export interface Seller {
  readonly org_id: Id<'org'>;
  /** The host, as hosts are compared. */
  readonly host: string;
  /** What it is called in place of us. */
  readonly name: string;
  /** Who may make an account there. */
  readonly registration: 'open' | 'invite';
}

export interface SellerHosts {
  /** What the process remembers of a host; undefined: it has to be asked for. */
  peek(host: string): Seller | null | undefined;
  /** Who is served at a host; null: nobody, or everybody where it is an address of our own. */
  at(host: string): Promise<Seller | null>;
  /** What the storefront of a reseller calls it; null: it has none. */
  nameOf(org_id: Id<'org'>): Promise<string | null>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Absent: the installation has no storefronts. */
    readonly seller_hosts?: SellerHosts;
  }
}

/** Who may make an account where the request came to. */
export async function signUpMode(context: Context): Promise<SignUpMode> {
  return (await sellerOf(context))?.registration ?? context.services.sign_in.signup;
}

/**
 * Refuses a person at the address of a reseller that neither they nor their organizations have to do with.
 * @throws ServiceError permission_denied.
 */
export async function refuseStranger(context: Context, user_id: Id<'user'>): Promise<void> {
  const seller = await sellerOf(context);
  if (seller === null || (await belongsAt(context.db, { user_id, seller_id: seller.org_id }))) return;
  throw new ServiceError(
    'permission_denied',
    'Your account is not used at this address. Sign in where you have been invited.',
    { details: { reason: 'other_address' } },
  );
}

/** Whose customers are served where the request came to; null: at an address of our own. */
export async function sellerOf(context: Context): Promise<Seller | null> {
  const host = context.requestHeader('host');
  const hosts = context.services.seller_hosts;
  return host === null || hosts === undefined ? null : hosts.at(host);
}

/** The address of a storefront's `host`, without a slash at its end: with the scheme and the port of our own. */
export function addressOfHost({ services }: Pick<Context, 'services'>, host: string): string {
  const { protocol, port } = new URL(services.sign_in.base_url);
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`;
}

/** The address for programs where the request came to: of the storefront, or our own. */
export async function addressHere(context: Context): Promise<string> {
  const seller = await sellerOf(context);
  return seller === null ? context.services.sign_in.base_url : addressOfHost(context, seller.host);
}
