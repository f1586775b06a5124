// SQL of storefronts, their logos, and whose is at which host.
import type { Seller } from '../identity/index.ts';
import type { Db, Id } from '../kernel/index.ts';
import type { Storefront } from './types.ts';

const COLUMNS = `
  shop.org_id, shop.display_name, shop.logo_url, shop.primary_color, shop.support_email, shop.support_url, shop.terms_url,
  shop.registration, shop.display_currency, shop.locale, shop.updated_at, logo.sha256 as logo_sha256`;
const SHOP = `
  storefront as shop
    join org as seller on seller.id = shop.org_id and seller.kind = 'reseller' and seller.status <> 'closed'
    left join storefront_logo as logo on logo.org_id = shop.org_id`;
const AT_HOST = `
  (shop.org_id = (select org_id from storefront_domain_proof where domain = $1) or seller.slug = $2)`;

/** The storefront of a reseller; null: it has set nothing. */
export async function findStorefront(db: Db, org_id: Id<'org'>): Promise<Storefront | null> {
  const { rows } = await db.query<Storefront>({
    name: 'storefronts.find',
    text: `select ${COLUMNS} from ${SHOP} where shop.org_id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Where a storefront is looked for: a host, and the slug in it where it is one below the base of the installation. */
interface Place {
  readonly host: string;
  readonly slug: string | null;
}

/** The storefront at a host; null: there is none. */
export async function findStorefrontAt(db: Db, { host, slug }: Place): Promise<Storefront | null> {
  const { rows } = await db.query<Storefront>({
    name: 'storefronts.find_at',
    text: `select ${COLUMNS} from ${SHOP} where ${AT_HOST}`,
    values: [host, slug],
  });
  return rows[0] ?? null;
}

/** Whom a mail or a page is for. */
interface Reader {
  /** The organization that it is about; null: a person alone. */
  readonly org_id: string | null;
  /** The reseller that it came about; null: none is known. */
  readonly seller_id: string | null;
  /** The person's address, as addresses are compared. */
  readonly email_key: string | null;
}

/** A storefront and where it is: its slug, and the domain that was proved first. */
export interface Placed extends Storefront {
  readonly slug: string;
  readonly domain: string | null;
}

/**
 * The storefront that a reader knows: that of the reseller whose customer the organization is; of a person, that of the one
 * reseller whose customers all their organizations are. Null: the reader knows us.
 */
export async function findStorefrontOf(db: Db, reader: Reader): Promise<Placed | null> {
  const { rows } = await db.query<Placed>({
    name: 'storefronts.find_of',
    text: `
      with known as (
        select coalesce($1, (select parent_org_id from org where id = $2), (
          select min(org.parent_org_id)
            from person
            join org_member as member on member.user_id = person.id and member.status = 'active'
            join org on org.id = member.org_id
           where person.email_key = $3 and $2::text is null
          having count(*) = count(org.parent_org_id) and count(distinct org.parent_org_id) = 1)) as org_id)
      select ${COLUMNS}, seller.slug,
             (select domain from storefront_domain_proof as proof where proof.org_id = shop.org_id
               order by verified_at, domain limit 1) as domain
        from ${SHOP} where shop.org_id = (select org_id from known)`,
    values: [reader.seller_id, reader.org_id, reader.email_key],
  });
  return rows[0] ?? null;
}

/** Who is served at a host; null: nobody. */
export async function findSeller(db: Db, { host, slug }: Place): Promise<Seller | null> {
  const { rows } = await db.query<Seller>({
    name: 'storefronts.find_seller',
    text: `
      select shop.org_id, $1::text as host, shop.display_name as name, shop.registration
        from ${SHOP} where ${AT_HOST}`,
    values: [host, slug],
  });
  return rows[0] ?? null;
}

/** Replaces the storefront of a reseller. */
export async function putStorefront(
  db: Db,
  shop: Omit<Storefront, 'logo_sha256' | 'updated_at'> & { readonly at: Date },
): Promise<void> {
  const { display_name, logo_url, primary_color, support_email, support_url, terms_url } = shop;
  await db.query({
    name: 'storefronts.put',
    text: `
      insert into storefront (org_id, display_name, logo_url, primary_color, support_email, support_url, terms_url,
                              registration, display_currency, locale, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      on conflict (org_id) do update
         set display_name = $2, logo_url = $3, primary_color = $4, support_email = $5, support_url = $6, terms_url = $7,
             registration = $8, display_currency = $9, locale = $10, updated_at = $11`,
    values: [
      ...[shop.org_id, display_name, logo_url, primary_color, support_email, support_url, terms_url],
      ...[shop.registration, shop.display_currency, shop.locale, shop.at],
    ],
  });
}

/** Begins a storefront with what `shop` says, where the reseller has none. */
export async function beginStorefront(
  db: Db,
  shop: Pick<
    Storefront,
    'org_id' | 'display_name' | 'primary_color' | 'registration' | 'display_currency' | 'locale'
  > & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'storefronts.begin',
    text: `
      insert into storefront (org_id, display_name, primary_color, registration, display_currency, locale, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (org_id) do nothing`,
    values: [
      ...[shop.org_id, shop.display_name, shop.primary_color, shop.registration],
      ...[shop.display_currency, shop.locale, shop.at],
    ],
  });
}

export interface Logo {
  readonly sha256: string;
  readonly content_type: string;
  readonly image: Buffer;
}

/** Replaces the logo of a reseller; null takes it away. */
export async function putLogo(db: Db, org_id: Id<'org'>, logo: Logo | null): Promise<void> {
  if (logo === null) {
    await db.query({
      name: 'storefronts.delete_logo',
      text: 'delete from storefront_logo where org_id = $1',
      values: [org_id],
    });
    return;
  }
  await db.query({
    name: 'storefronts.put_logo',
    text: `
      insert into storefront_logo (org_id, sha256, content_type, image) values ($1, $2, $3, $4)
      on conflict (org_id) do update set sha256 = $2, content_type = $3, image = $4`,
    values: [org_id, logo.sha256, logo.content_type, logo.image],
  });
}

/** The image with this SHA-256, whoever's it is; null: nobody's any more. */
export async function findLogo(db: Db, sha256: string): Promise<Logo | null> {
  const { rows } = await db.query<Logo>({
    name: 'storefronts.find_logo',
    text: 'select sha256, content_type, image from storefront_logo where sha256 = $1 limit 1',
    values: [sha256],
  });
  return rows[0] ?? null;
}
