// What the pages of staff keep in the address; wrong and unknown parameters are dropped.

type Raw = Readonly<Record<string, unknown>>;

/** What is looked for. The router reads a number where one was typed. */
export function readFindSearch(raw: Raw): { readonly q?: string } {
  const { q } = raw;
  const text = typeof q === 'number' ? String(q) : q;
  return typeof text === 'string' && text.trim() !== '' && text.length <= 254 ? { q: text } : {};
}

/** Whose book an organization's page shows; live unless said. */
export function readOrgSearch(raw: Raw): { readonly env?: 'sandbox' } {
  return raw['env'] === 'sandbox' ? { env: 'sandbox' } : {};
}

/** The kind of workflows that is shown; all unless said. */
export function readKindSearch(raw: Raw): { readonly type?: string } {
  const { type } = raw;
  return typeof type === 'string' && /^[A-Za-z]{1,60}$/.test(type) ? { type } : {};
}
