// What is published of traffic, and apps.
import { type Static, Type } from 'typebox';
import type { EndpointFigures, ModelFigures } from '../catalog/index.ts';
import { lineOf, named, nullable } from '../kernel/index.ts';

/** From how many attempts on uptime and latency are published: fewer say more of one caller than of the endpoint. */
export const ATTEMPTS_MIN = 20;
export const STATS_DAYS = 30;
export const WEEK_DAYS = 7;

/** The figures as they are stored. */
export interface Content {
  /** So many organizations stand behind each count of a model's calls. */
  readonly min_orgs: number;
  readonly endpoints: Readonly<Record<string, EndpointFigures>>;
  readonly models: Readonly<Record<string, ModelFigures>>;
}

/** An app and whose it is. */
export interface AppRow {
  readonly slug: string;
  readonly org_id: `org_${string}`;
  readonly name: string;
  readonly category: string | null;
  readonly url: string | null;
  readonly public: boolean;
  readonly first_seen_at: Date;
  readonly updated_at: Date;
}

export const AppName = lineOf(120, 1);
export const AppCategory = lineOf(40, 1);
/** Whether `text` can be the name of an app: anything else is nobody's. */
export function isAppSlug(text: string): boolean {
  return /^[a-z0-9-]{1,64}$/.test(text);
}

/** Shown to everybody as a link, so of the web alone. */
export const AppUrl = Type.String({ pattern: '^https?://[^\\s]+$', maxLength: 2_048 });

export const AppView = named(
  'App',
  Type.Object({
    slug: Type.String({ description: 'what calls say in `svc.app`' }),
    name: Type.String(),
    category: nullable(Type.String()),
    url: nullable(Type.String()),
    public: Type.Boolean({ description: 'whether everybody sees its name, calls and tokens' }),
    owned: Type.Boolean({
      description:
        'false: another organization used the name first, and your calls under it are counted for nobody else',
    }),
    requests_30d: Type.Integer({ description: 'your answered live calls' }),
    tokens_30d: Type.Integer(),
    first_seen_at: Type.String({ format: 'date-time' }),
  }),
);
export type AppView = Static<typeof AppView>;

export const appExample: AppView = {
  slug: 'acme-notes',
  name: 'Acme Notes',
  category: 'productivity',
  url: 'https://notes.acme.example',
  public: true,
  owned: true,
  requests_30d: 18_204,
  tokens_30d: 41_900_311,
  first_seen_at: '2026-11-02T08:30:12.000Z',
};
