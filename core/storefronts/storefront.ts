// Reading and replacing the storefront of a reseller.
import { writeAudit } from '../identity/index.ts';
import { type Context, type Id, invalid, isId, notFound, ServiceError } from '../kernel/index.ts';
import { emailKey } from '../mail/index.ts';
import { findOrg, lockOrg, type Org } from '../orgs/index.ts';
import { findDefaultTier, findTier, putDefaultTier } from '../resellers/index.ts';
import { fetchLogo } from './logo.ts';
import { settingsOf } from './settings.ts';
import { findStorefront, type Logo, putLogo, putStorefront } from './store.ts';
import { defaults, type Storefront, type StorefrontIn, type StorefrontView } from './types.ts';
import { viewOwn } from './view.ts';

async function getOrg(context: Context, org_id: Id<'org'>): Promise<Org> {
  const org = await findOrg(context.db, org_id);
  if (org === null) throw notFound();
  return org;
}

/** What a reseller has that set nothing: its name, and defaults. */
function fresh({ id, name }: Pick<Org, 'id' | 'name'>): Storefront {
  const nothing = { logo_url: null, logo_sha256: null, support_email: null, support_url: null };
  return { org_id: id, display_name: name, ...nothing, ...defaults, terms_url: null, updated_at: null };
}

/** The storefront of a reseller, for its people. */
export async function readStorefront(context: Context, org_id: Id<'org'>): Promise<StorefrontView> {
  const org = await getOrg(context, org_id);
  const shop = (await findStorefront(context.db, org_id)) ?? fresh(org);
  const default_tier_id = await findDefaultTier(context.db, org_id);
  return viewOwn(shop, { settings: settingsOf(context.services), slug: org.slug, default_tier_id });
}

/** An https address that customers follow. @throws ServiceError invalid_request. */
function readUrl(param: string, text: string | null | undefined): string | null {
  if (text == null) return null;
  if (URL.canParse(text)) {
    const url = new URL(text);
    if (url.protocol === 'https:' && url.username === '' && url.password === '') return url.href;
  }
  throw invalid(param, 'format', 'It must be an address that begins with https://.');
}

/** A BCP 47 tag in its canonical form. @throws ServiceError invalid_request. */
function readLocale(text: string): string {
  try {
    const [locale] = Intl.getCanonicalLocales(text);
    if (locale !== undefined) return locale;
  } catch {
    // A RangeError: it is no tag.
  }
  throw invalid('locale', 'format', 'It must be a language tag, as en or pt-BR.');
}

type Wanted = Omit<Storefront, 'org_id' | 'logo_sha256' | 'updated_at'>;

/** What `input` says, with defaults for what it leaves out. @throws ServiceError invalid_request. */
function readInput(input: StorefrontIn): Wanted {
  const { display_name, logo_url = null, support_email = null } = input;
  if (support_email !== null && emailKey(support_email) === null)
    throw invalid('support_email', 'format', 'It must be an e-mail address.');
  return {
    ...{ display_name, logo_url, support_email },
    primary_color: (input.primary_color ?? defaults.primary_color).toLowerCase(),
    support_url: readUrl('support_url', input.support_url),
    terms_url: readUrl('terms_url', input.terms_url),
    registration: input.registration ?? defaults.registration,
    display_currency: input.display_currency ?? defaults.display_currency,
    locale: readLocale(input.locale ?? defaults.locale),
  };
}

/** A tier of the reseller by an id that somebody gave. @throws ServiceError invalid_request. */
async function readTier(
  context: Context,
  org_id: Id<'org'>,
  given: string | null,
): Promise<Id<'tier'> | null> {
  if (given === null) return null;
  const found = isId('tier', given) ? await findTier(context.db, { org_id, id: given as Id<'tier'> }) : null;
  if (found === null) throw invalid('default_tier_id', 'value', 'There is no such tier.');
  return found.id;
}

/** The logo to keep: undefined where it stays as it is. */
async function logoOf(
  context: Context,
  before: Storefront | null,
  url: string | null,
): Promise<Logo | null | undefined> {
  if (url === null) return null;
  const is_there = before?.logo_url === url && before.logo_sha256 !== null;
  return is_there ? undefined : fetchLogo(context.services, url);
}

/**
 * Replaces the storefront of a reseller; the logo is fetched where its address is another one, before the transaction.
 * @throws ServiceError invalid_request, unsafe_url, media_fetch_failed, invalid_media, state_conflict.
 */
export async function replaceStorefront(
  context: Context,
  org_id: Id<'org'>,
  input: StorefrontIn,
): Promise<StorefrontView> {
  const wanted = readInput(input);
  await readTier(context, org_id, input.default_tier_id ?? null);
  const logo = await logoOf(context, await findStorefront(context.db, org_id), wanted.logo_url);
  return context.transaction(async (context) => {
    // Under this lock it stays a reseller, and the tier stays there.
    const org = await lockOrg(context.db, org_id);
    if (org?.kind !== 'reseller')
      throw new ServiceError('state_conflict', 'The organization is no reseller any more.');
    const tier_id = await readTier(context, org_id, input.default_tier_id ?? null);
    const at = context.now();
    const before = await readStorefront(context, org_id);
    await putStorefront(context.db, { org_id, ...wanted, at });
    if (logo !== undefined) await putLogo(context.db, org_id, logo);
    if (tier_id !== before.default_tier_id) await putDefaultTier(context.db, { org_id, tier_id, at });
    const after = await readStorefront(context, org_id);
    await writeAudit(context, {
      ...{
        action: 'reseller.storefront.put',
        org_id,
        target: { type: 'org', id: org_id, display: org.slug },
      },
      ...{ before: factsOf(before), after: factsOf(after) },
    });
    return after;
  });
}

/** What the audit log says: what was set, without what follows from it. */
function factsOf(shop: StorefrontView) {
  const { display_name, logo_url, primary_color, support_email, support_url, terms_url } = shop;
  const { registration, default_tier_id, display_currency, locale } = shop;
  return {
    ...{ display_name, logo_url, primary_color, support_email, support_url, terms_url },
    ...{ registration, default_tier_id, display_currency, locale },
  };
}
