// Where a ledger is: the address of a database and, as its parameter `ledger_schema`, the schema in it; without the
// parameter `ledger`. Statements and migrations are written for that name, and another one is put in its place.

const LEDGER = 'ledger';
const PARAMETER = 'ledger_schema';
const NAME = /^[a-z][a-z0-9_]{0,39}$/;
/** `ledger.` before a name (or the `%` of a format), and the schema where a grant names it. */
const NAMED = /\bledger(?=\.[a-z_%])|(?<=\bschema )ledger\b/g;

/** The schema that the ledger at `url` is in. @throws Error on a name that is none. */
export function ledgerSchemaOf(url: string): string {
  const name = new URL(url).searchParams.get(PARAMETER) ?? LEDGER;
  if (!NAME.test(name)) throw new Error(`${PARAMETER} is not a lower-case name of up to 40 letters: ${name}`);
  return name;
}

/** `url` with another schema for its ledger. */
export function withLedgerSchema(url: string, schema: string): string {
  const to = new URL(url);
  to.searchParams.set(PARAMETER, schema);
  return to.href;
}

/** Statements as they run where the ledger is in `schema`; each text is renamed once. */
export function ledgerNaming(schema: string): (text: string) => string {
  if (schema === LEDGER) return (text) => text;
  const known = new Map<string, string>();
  return (text) => {
    const named = known.get(text) ?? inLedgerSchema(text, schema);
    known.set(text, named);
    return named;
  };
}

/** A statement or a migration as it runs where the ledger is in `schema`. */
export function inLedgerSchema(sql: string, schema: string): string {
  return schema === LEDGER ? sql : sql.replaceAll(NAMED, schema);
}
