// Storefronts as they are asked for, kept and shown.
import { type Static, Type } from 'typebox';
import { EmailIn } from '../identity/index.ts';
import {
  type Currency,
  currencies,
  type Id,
  idOf,
  lineOf,
  named,
  nullable,
  oneOf,
  Time,
} from '../kernel/index.ts';
import { TEXT_DARK, TEXT_LIGHT } from './color.ts';

export const registrations = ['open', 'invite'] as const;
type Registration = (typeof registrations)[number];

/** What a reseller that has said nothing yet starts from. */
export const defaults = {
  primary_color: '#2b50d4',
  registration: 'invite',
  display_currency: 'USD',
  locale: 'en',
} as const;

/** A storefront as its row keeps it. */
export interface Storefront {
  readonly org_id: Id<'org'>;
  readonly display_name: string;
  readonly logo_url: string | null;
  /** Of the image that is served; null: there is none. */
  readonly logo_sha256: string | null;
  readonly primary_color: string;
  readonly support_email: string | null;
  readonly support_url: string | null;
  readonly terms_url: string | null;
  readonly registration: Registration;
  readonly display_currency: Currency;
  readonly locale: string;
  /** Null: nothing was set yet. */
  readonly updated_at: Date | null;
}

const UrlIn = lineOf(2_048);
const Color = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', examples: ['#0b6e4f'] });
const Registration = oneOf(registrations, 'StorefrontRegistration');
const Currencies = oneOf(currencies, 'Currency');

/** What replaces the whole storefront: what is left out gets its default. */
export const StorefrontIn = Type.Object({
  display_name: lineOf(120),
  logo_url: Type.Optional(nullable(UrlIn)),
  primary_color: Type.Optional(Color),
  support_email: Type.Optional(nullable(EmailIn)),
  support_url: Type.Optional(nullable(UrlIn)),
  terms_url: Type.Optional(nullable(UrlIn)),
  registration: Type.Optional(Registration),
  default_tier_id: Type.Optional(nullable(idOf('tier'))),
  display_currency: Type.Optional(Currencies),
  locale: Type.Optional(lineOf(35)),
});
export type StorefrontIn = Static<typeof StorefrontIn>;

/** What everybody may see. */
const shown = {
  display_name: Type.String(),
  logo_url: nullable(Type.String()),
  primary_color: Type.String({ description: 'as it was chosen, #rrggbb' }),
  accent_light: Type.String({
    description: `the colour, darker as far as contrast asks for; text on it is ${TEXT_LIGHT}`,
  }),
  accent_dark: Type.String({
    description: `the same on dark grounds, lighter; text on it is ${TEXT_DARK}`,
  }),
  support_email: nullable(Type.String()),
  support_url: nullable(Type.String()),
  terms_url: nullable(Type.String()),
  registration: Registration,
  display_currency: Currencies,
  locale: Type.String({ description: 'BCP 47' }),
};

export const PublicStorefrontView = named('Storefront', Type.Object(shown));
export type PublicStorefrontView = Static<typeof PublicStorefrontView>;

export const StorefrontView = named(
  'ResellerStorefront',
  Type.Object({
    reseller_id: idOf('org'),
    ...shown,
    logo_url: nullable(Type.String({ description: 'where the logo was fetched from' })),
    logo_address: nullable(Type.String({ description: 'where customers get it' })),
    address: nullable(
      Type.String({
        description: 'address without a domain of its own; null where the installation has no storefronts',
      }),
    ),
    default_tier_id: nullable(idOf('tier')),
    updated_at: nullable(Time),
  }),
);
export type StorefrontView = Static<typeof StorefrontView>;
