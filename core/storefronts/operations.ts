// Storefronts over REST.
import { type Static, Type } from 'typebox';
import { type Db, FileAnswer, invalid, named, notFound, operation } from '../kernel/index.ts';
import { emailKey } from '../mail/index.ts';
import { holders, resellerCaller } from '../resellers/index.ts';
import { addressOf } from './around.ts';
import { accentColors } from './color.ts';
import { hostKey, slugOf } from './host-name.ts';
import { addressAt, type StorefrontSettings, settingsOf } from './settings.ts';
import { findLogo, findStorefrontAt, findStorefrontOf } from './store.ts';
import { readStorefront, replaceStorefront } from './storefront.ts';
import { PublicStorefrontView, StorefrontIn, StorefrontView } from './types.ts';
import { logoPath, viewPublic } from './view.ts';

const LOGO = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const YEAR_SECONDS = 31_536_000;

const shown: Static<typeof PublicStorefrontView> = {
  ...{ display_name: 'Acme AI', logo_url: `https://ai.acme.example${logoPath(LOGO)}` },
  ...{ primary_color: '#0b6e4f', ...accentColors('#0b6e4f') },
  ...{ support_email: 'help@acme.example', support_url: null, terms_url: 'https://acme.example/terms' },
  ...{ registration: 'invite', display_currency: 'EUR', locale: 'de-DE' },
};
const own: StorefrontView = {
  ...{ reseller_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', ...shown, logo_url: 'https://acme.example/logo.png' },
  ...{ logo_address: `https://acme.shops.example${logoPath(LOGO)}`, address: 'https://acme.shops.example' },
  ...{ default_tier_id: 'tier_01KACZ3V8S6T5R4Q3P2N1M0K9J', updated_at: '2026-11-21T10:00:00.000Z' },
};

export const getStorefrontOperation = operation({
  name: 'reseller.storefront.get',
  method: 'GET',
  path: '/v1/reseller/storefront',
  summary: 'Show the storefront of the reseller: what its customers see in place of us',
  audience: holders('reseller.read'),
  input: Type.Object({}),
  output: StorefrontView,
  errors: ['grant_required'],
  example: own,
  run: (context) => readStorefront(context, resellerCaller(context).org_id),
});

export const putStorefrontOperation = operation({
  name: 'reseller.storefront.put',
  method: 'PUT',
  path: '/v1/reseller/storefront',
  summary: 'Replace the storefront; what is left out gets its default, and the logo is fetched once',
  audience: holders('storefront.write'),
  input: StorefrontIn,
  output: StorefrontView,
  errors: [
    ...(['grant_required', 'csrf_failed', 'state_conflict'] as const),
    ...(['unsafe_url', 'media_fetch_failed', 'invalid_media'] as const),
  ],
  // The logo comes from an address outside; what is written afterwards is one transaction.
  own_transactions: true,
  request: {
    ...{ display_name: 'Acme AI', logo_url: 'https://acme.example/logo.png', primary_color: '#0b6e4f' },
    ...{ support_email: 'help@acme.example', registration: 'invite', display_currency: 'EUR' },
  },
  example: own,
  run: (context, input) => replaceStorefront(context, resellerCaller(context).org_id, input),
});

/** What everybody sees of the storefront at `host`; null: there is none. */
export async function readStorefrontAt(
  db: Db,
  settings: StorefrontSettings,
  host: string,
): Promise<PublicStorefrontView | null> {
  const key = hostKey(host);
  const shop = await findStorefrontAt(db, { host: key, slug: slugOf(key, settings.base) });
  return shop === null ? null : viewPublic(shop, addressAt(settings, key));
}

const HostIn = Type.String({ minLength: 1, maxLength: 300 });

const showStorefrontOperation = operation({
  name: 'storefront.get',
  method: 'GET',
  path: '/v1/storefront',
  summary:
    'Show the storefront at a host; 404 where there is none, which answers an ingress that asks for TLS',
  audience: { kind: 'public' },
  input: Type.Object({
    host: Type.Optional(HostIn),
    domain: Type.Optional(
      Type.String({ ...HostIn, description: 'the same, as an ingress names it that asks for TLS' }),
    ),
  }),
  output: PublicStorefrontView,
  errors: ['not_found'],
  cached: { scope: 'public' },
  asked_by_proxies: true,
  example: shown,
  async run(context, { host, domain }) {
    const asked = host ?? domain;
    if (asked === undefined) throw invalid('host', 'missing', 'Say which host is meant.');
    const shop = await readStorefrontAt(context.db, settingsOf(context.services), asked);
    if (shop === null) throw notFound();
    return shop;
  },
});

export const ownStorefrontOperation = operation({
  name: 'storefront.own',
  method: 'GET',
  path: '/v1/storefront/own',
  summary: 'Show the storefront of the reseller whose customer the caller is; 404 for everybody else',
  audience: { kind: 'key', scopes: 'any', session: 'any' },
  input: Type.Object({}),
  output: PublicStorefrontView,
  errors: ['not_found'],
  example: shown,
  async run(context) {
    const { caller } = context;
    const email_key = caller.kind === 'session' ? emailKey(caller.email) : null;
    const org_id = caller.kind === 'session' || caller.kind === 'key' ? caller.org_id : null;
    // Of another organization, whose name and looks its customers are shown.
    const shop = await findStorefrontOf(context.acrossOrgs.db, { org_id, email_key, seller_id: null });
    if (shop === null) throw notFound();
    return viewPublic(shop, addressOf(shop, settingsOf(context.services)));
  },
});

const showLogoOperation = operation({
  name: 'storefront.logo',
  method: 'GET',
  path: '/v1/storefront/logos/:logo',
  summary: 'The logo of a storefront; its address changes with it',
  audience: { kind: 'public' },
  input: Type.Object({ logo: Type.String({ description: 'SHA-256 of the image' }) }),
  output: named('StorefrontLogo', Type.String()),
  errors: [],
  cached: { scope: 'public', max_age_seconds: YEAR_SECONDS },
  produces: 'image/*',
  example: '\u0089PNG',
  async run(context, { logo: sha256 }) {
    const logo = /^[0-9a-f]{64}$/.test(sha256) ? await findLogo(context.db, sha256) : null;
    if (logo === null) throw notFound();
    const { content_type, image } = logo;
    return new FileAnswer({
      content_type,
      filename: `logo.${content_type.slice(6)}`,
      body: image,
      inline: true,
    });
  },
});

export const storefrontOperations = [
  getStorefrontOperation,
  putStorefrontOperation,
  showStorefrontOperation,
  ownStorefrontOperation,
  showLogoOperation,
] as const;
