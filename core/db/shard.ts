// Where a ledger is: the address of a database and, as its parameter `ledger_schema`, the schema in it; without the
// parameter `ledger`. Statements and migrations are written for that name, and another one is put in its place.

import type { Db, Shards } from '../kernel/index.ts';

/** The shard in the product's own database; the only one unless others are configured. */
export const MAIN = 'main';

/** A ledger by the name that rows of organizations have. */
export interface ShardAddress {
  readonly name: string;
  readonly url: string;
}

/** A shard with all its places; the first has the shard's own name, and is where the ledger was made. */
export interface ShardPlaces {
  readonly name: string;
  readonly places: readonly [ShardAddress, ...ShardAddress[]];
}

/** The shards among `main` at `url` and `others`, each with its places (`a.2` is one of `a`). @throws Error on faults of the list. */
export function shardPlaces(url: string, others: readonly ShardAddress[]): readonly ShardPlaces[] {
  const all = listedAddresses(url, others);
  const shards = all.filter(({ name }) => !name.includes('.'));
  for (const { name } of all) {
    const shard = name.split('.')[0];
    if (!shards.some((one) => one.name === shard))
      throw new Error(`${name} is a place of the shard ${shard}, which is not listed`);
  }
  return shards.map((shard) => ({
    name: shard.name,
    places: [shard, ...all.filter(({ name }) => name.startsWith(`${shard.name}.`))],
  }));
}

/** `main` at `url`, then `others`. @throws Error when two have one name or are one ledger. */
function listedAddresses(url: string, others: readonly ShardAddress[]): readonly ShardAddress[] {
  const all = [{ name: MAIN, url }, ...others];
  const places = all.map(({ url }) => `${new URL(url).host}${new URL(url).pathname} ${ledgerSchemaOf(url)}`);
  for (const [i, { name }] of all.entries()) {
    if (all.findIndex((one) => one.name === name) !== i) throw new Error(`two shards are called ${name}`);
    const first = places.indexOf(places[i] as string);
    if (first !== i) throw new Error(`the shards ${all[first]?.name} and ${name} are the same ledger`);
  }
  return all;
}

/**
 * Does `work` at each ledger, all at once, and sums what it returns. One that fails keeps none of the others from it.
 * @throws what failed, after all have ended.
 */
export async function eachShard(
  shards: Shards,
  work: (ledger: Db, name: string) => Promise<number>,
): Promise<number> {
  const ended = await Promise.allSettled(shards.names.map((name) => work(shards.at(name), name)));
  const errors = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} shards of the ledger failed`);
  return ended.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}

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
