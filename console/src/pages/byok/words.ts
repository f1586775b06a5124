// Words for provider keys: how one stands, what came of trying it, and what is no key. Pure.
import type { ProviderKeyRowFragment, ProviderKeysQuery } from '../../api/gen/tools/graphql.ts';
import { plural, shareText } from '../../ui/format/numbers.ts';
import type { Shape, Tone } from '../../ui/status.tsx';

type List = NonNullable<ProviderKeysQuery['byok']>;
export type Provider = Omit<List['providers'][number], '__typename'>;
type Row = ProviderKeyRowFragment;

const BPS = 10_000;
const SECRET_MIN = 8;

export interface Mark {
  readonly tone: Tone;
  readonly shape?: Shape;
  readonly word: string;
}

/** How a key stands with its provider, as far as is known. */
export function standingOf({ status, validatedAt }: Pick<Row, 'status' | 'validatedAt'>): Mark {
  if (status === 'REJECTED') return { tone: 'bad', word: 'refused' };
  return validatedAt === null || validatedAt === undefined
    ? { tone: 'mute', word: 'not tried yet' }
    : { tone: 'ok', word: 'accepted' };
}

/** The provider's name; its id where the catalog has it no more. */
export function providerName(providers: readonly Provider[], id: string): string {
  return providers.find((provider) => provider.id === id)?.name ?? id;
}

/** What a person types to delete a key, and how it is called: its label, else its provider. */
export function callName(row: Pick<Row, 'label'>, provider: string): string {
  return row.label === '' ? provider : row.label;
}

/** A name as a page shows it: several spaces in a row are shown as one. */
export function asShown(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}

/** The secret that a key has now, by the characters that are shown of it; of a short one none are. */
export function formerText({ hint }: Pick<Row, 'hint'>): string {
  return /[^.]/.test(hint) ? `the one that ends in ${hint}` : 'the one before';
}

/** What a call with such a key costs. */
export function costText(fee_bps: number): string {
  const share = shareText(fee_bps / BPS);
  return `The provider bills the tokens to you. Here such a call costs ${share} of their list price.`;
}

/** What is done for a call that the key cannot answer. */
export function fallbackText(fallback: boolean): string {
  return fallback ? 'the gateway’s keys answer' : 'the call fails';
}

interface Tried {
  readonly key: Pick<Row, 'status' | 'label'>;
  readonly validation: {
    readonly ok: boolean;
    readonly status: number;
    readonly models?: number | null | undefined;
    readonly message?: string | null | undefined;
  };
}

/** What came of trying a key: the provider's answer, with its words where it does not accept the key. */
export function triedMark({ key, validation }: Tried, provider: string): Mark {
  const { ok, status, models, message } = validation;
  const what = key.label === '' ? 'the key' : `the key ${key.label}`;
  if (ok) {
    const listed =
      models === null || models === undefined ? '' : ` It lists ${plural(models, 'model')} for it.`;
    return { tone: 'ok', word: `${provider} accepts ${what}.${listed}` };
  }
  if (status === 0)
    return {
      tone: 'warn',
      word: `${provider} did not answer, so nothing is known of ${what}. Try again later.`,
    };
  const said = message ? ` It says: “${message}”` : '';
  // A key that was refused before stays so when the provider has troubles of its own.
  const refused = key.status === 'REJECTED' && status >= 400 && status < 500 && status !== 429;
  return refused
    ? { tone: 'bad', word: `${provider} refuses ${what} (HTTP ${status}).${said}` }
    : { tone: 'warn', word: `${provider} could not say anything of ${what} (HTTP ${status}).${said}` };
}

/** Why `secret` can be no key; null: it can be one. The API has the last word. */
export function secretFault(secret: string): string | null {
  if (secret === '') return 'Paste the key as the provider gave it.';
  if (!/^[\x21-\x7e]+$/.test(secret)) return 'A key has no blanks, and no characters beyond ASCII.';
  return secret.length < SECRET_MIN ? `A key has at least ${SECRET_MIN} characters.` : null;
}
