// What the palette offers for what was typed. Pure.

export interface Offer {
  readonly name: string;
  /** The group that it stands in. */
  readonly kind: 'Page' | 'Action' | 'Organisation' | 'Call';
  readonly act: () => void;
}

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

/** A request id in `text`, in capitals as the API writes it. */
export function requestIdOf(text: string): string | null {
  const id = text.trim();
  return ULID.test(id) ? id.toUpperCase() : null;
}

/** Offers whose names have every word of `text`; those whose name begins with it come first. */
export function matching<T extends { readonly name: string }>(offers: readonly T[], text: string): T[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const [first = ''] = words;
  const rank = ({ name }: T) => (name.toLowerCase().startsWith(first) ? 0 : 1);
  return offers
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .toSorted((a, b) => rank(a) - rank(b));
}
