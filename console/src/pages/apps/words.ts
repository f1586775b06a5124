// What an app is called on its page, and the code of its badge. Pure.
import type { AppRowFragment } from '../../api/gen/tools/graphql.ts';

type App = AppRowFragment;

/** What of an app is known to whom, in two words. */
export function standingOf({ owned, public: is_public }: Pick<App, 'owned' | 'public'>): {
  readonly tone: 'ok' | 'mute' | 'warn';
  readonly word: string;
} {
  if (!owned) return { tone: 'warn', word: 'name taken' };
  return is_public ? { tone: 'ok', word: 'public' } : { tone: 'mute', word: 'private' };
}

/** Marks that end the text of a link or an image in Markdown. */
const plain = (name: string) => name.replaceAll(/[\\[\]]/g, (mark) => `\\${mark}`);

/** The badge of an app for a README: an image, from the gateway at `base_url`, that leads to the app's page at `origin`. */
export function badgeSnippet(
  { slug, name }: Pick<App, 'slug' | 'name'>,
  { base_url, origin }: { base_url: string; origin: string },
): string {
  const image = `${base_url.replace(/\/+$/, '')}/v1/apps/${slug}/badge`;
  return `[![${plain(name)}](${image})](${origin}/rankings/apps/${slug})`;
}

interface Fields {
  readonly name: string;
  readonly category: string;
  readonly url: string;
  readonly public: boolean;
}

/** What is sent: all of it, since what is left out would be reset. */
export function inputOf(slug: string, { name, category, url, public: is_public }: Fields) {
  return {
    slug,
    name: name === '' ? slug : name,
    category: category === '' ? null : category,
    url: url === '' ? null : url,
    public: is_public,
  };
}
