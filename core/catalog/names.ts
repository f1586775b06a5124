// Names of models as their own vendors' clients write them: without the vendor, with the date of a version, `-latest`.
import type { Catalog, Model } from './types.ts';

/** The date of a version, as vendors write it behind a name. */
const DATE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/;
const LATEST = /-latest$/;
/** What distinguishes the versions of one model: a month, a day. */
const VERSION = /-(\d{4,8})$/;
/** No id is longer. */
const NAME_MAX = 200;

function tailOf(id: string): string {
  return id.slice(id.indexOf('/') + 1);
}

/** Whether `id` is called `name`, with its vendor or, where `name` has none, without. */
function isCalled(id: string, name: string): boolean {
  return id === name || (!name.includes('/') && tailOf(id) === name);
}

/** Whether `name` is a way to write `id`. */
export function isNameOf(name: string, id: string): boolean {
  if (name.length > NAME_MAX) return false;
  const base = name.replace(DATE, '').replace(LATEST, '');
  if (isCalled(id, name) || isCalled(id, base)) return true;
  return LATEST.test(name) && VERSION.test(id) && isCalled(id.replace(VERSION, ''), base);
}

/** The ids that `name` can stand for: one where it is clear, several where it is not; exact ones rule others out. */
export function idsNamed(catalog: { readonly models: ReadonlyMap<string, unknown> }, name: string): string[] {
  const exact: string[] = [];
  const others: string[] = [];
  for (const id of catalog.models.keys()) {
    if (isCalled(id, name)) exact.push(id);
    else if (isNameOf(name, id)) others.push(id);
  }
  if (exact.length > 0) return exact;
  const undated = others.filter((id) => !VERSION.test(id));
  return undated.length > 0 ? undated : newestOfEach(others);
}

/** Of versions of one model the newest. */
function newestOfEach(ids: readonly string[]): string[] {
  const newest = new Map<string, string>();
  for (const id of [...ids].sort()) newest.set(id.replace(VERSION, ''), id);
  return [...newest.values()];
}

/** Model `name` however it is written, for a key of `environment`; the ids that it fits where these are not one. */
export function namedModel(
  catalog: Catalog,
  name: string,
  environment: 'live' | 'test',
): Model | readonly string[] {
  const models = environment === 'test' ? catalog.sandbox : catalog.models;
  const known = models.get(name);
  if (known !== undefined) return known;
  const ids = idsNamed({ models }, name);
  const [only] = ids;
  return ids.length === 1 && only !== undefined ? (models.get(only) as Model) : ids;
}
