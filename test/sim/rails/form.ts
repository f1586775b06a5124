// Bodies of the rail: forms with brackets, `line_items[0][price_data][currency]=usd`.

export type Form = { [name: string]: string | Form };

/** Reads a form into nested objects; list indexes are names like any other. */
export function parseForm(text: string): Form {
  const form: Form = {};
  for (const [key, value] of new URLSearchParams(text)) {
    const names = key.split(/[[\]]+/).filter((name) => name !== '');
    let at = form;
    for (const name of names.slice(0, -1)) {
      const inner = at[name];
      if (typeof inner === 'object') at = inner;
      else {
        const fresh: Form = {};
        at[name] = fresh;
        at = fresh;
      }
    }
    at[names.at(-1) as string] = value;
  }
  return form;
}

/** The member at `path`, when it is text. */
export function textAt(form: Form, ...path: string[]): string | null {
  let at: string | Form | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  return typeof at === 'string' && at !== '' ? at : null;
}

/** The members of an object at `path` that are text. */
export function mapAt(form: Form, ...path: string[]): Record<string, string> {
  let at: string | Form | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  const found: Record<string, string> = {};
  if (typeof at !== 'object') return found;
  for (const [name, value] of Object.entries(at)) if (typeof value === 'string') found[name] = value;
  return found;
}
