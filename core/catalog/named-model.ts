// The model that a caller names, and what one is told whose name fits none or several.
import { ServiceError } from '../kernel/index.ts';
import { idsNamed, namedModel } from './names.ts';
import type { Catalog, Model } from './types.ts';

const SUGGESTIONS_MAX = 3;
/** Some clients limit the length of a model name; beyond this no id is near. */
const NAME_MAX = 200;

/** Edit distance of `a` and `b`, at most `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(change, (previous[j] as number) + 1, (row[j - 1] as number) + 1));
    }
    previous = row;
  }
  return Math.min(previous[b.length] as number, limit + 1);
}

/** Those of `ids` that are close to `wanted`, nearest first: a forgotten vendor, another separator, a typing error. */
export function suggestions(ids: Iterable<string>, wanted: string): string[] {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[._:]/g, '-');
  const name = plain(wanted.slice(0, NAME_MAX));
  const limit = Math.max(1, Math.floor(name.length / 4));
  const near: { id: string; distance: number }[] = [];
  for (const id of ids) {
    const full = plain(id);
    const tail = full.slice(full.indexOf('/') + 1);
    const of = name.slice(name.indexOf('/') + 1);
    const distance = Math.min(
      editDistance(name, full, limit),
      editDistance(of, tail, limit) + (of === name ? 0 : 0.5),
    );
    if (distance <= limit) near.push({ id, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
  return near.slice(0, SUGGESTIONS_MAX).map((item) => item.id);
}

/** The model that `name` meant until it left the catalog; null where no such model is known, or several are. */
export function findWithdrawn(
  { withdrawn = new Map() }: Pick<Catalog, 'withdrawn'>,
  name: string,
): { readonly id: string; readonly left_at: Date } | null {
  const [id, ...others] = withdrawn.has(name) ? [name] : idsNamed({ models: withdrawn }, name);
  const left_at = id === undefined || others.length > 0 ? undefined : withdrawn.get(id);
  return id === undefined || left_at === undefined ? null : { id, left_at };
}

/** The refusal of a model that the catalog does not have, or has not any more. */
function modelNotFound(
  catalog: Catalog,
  { name, param, ids }: { name: string; param: string; ids: Iterable<string> },
): ServiceError {
  const near = suggestions(ids, name);
  const gone = findWithdrawn(catalog, name);
  if (gone !== null) {
    const day = gone.left_at.toISOString().slice(0, 10);
    const message = `${gone.id} left the catalog on ${day}. See GET /v1/models${near.length === 0 ? '' : `, for example ${near.join(' or ')}`}.`;
    const details = { suggestions: near, left_at: gone.left_at.toISOString() };
    return new ServiceError('model_not_found', message, { param, details });
  }
  const hint = near.length === 0 ? 'See GET /v1/models.' : `Did you mean ${near.join(' or ')}?`;
  const shown = name.length > NAME_MAX ? `${name.slice(0, NAME_MAX)}…` : name;
  return new ServiceError('model_not_found', `There is no model ${JSON.stringify(shown)}. ${hint}`, {
    param,
    details: { suggestions: near },
  });
}

/** The refusal of a name that models of several vendors have. */
function ambiguous(ids: readonly string[], name: string, param: string): ServiceError {
  const near = ids.slice(0, SUGGESTIONS_MAX);
  const message = `${JSON.stringify(name)} names several models: ${near.join(' and ')}.`;
  return new ServiceError('model_not_found', message, { param, details: { suggestions: near } });
}

/**
 * The model that `name` means to a key of `environment`, however it is written.
 * @throws ServiceError model_not_found with what may have been meant; `param` is where the name stands.
 */
export function getNamedModel(
  catalog: Catalog,
  { name, environment, param }: { name: string; environment: 'live' | 'test'; param: string },
): Model {
  const named = namedModel(catalog, name, environment);
  if ('id' in named) return named;
  const models = environment === 'test' ? catalog.sandbox : catalog.models;
  throw named.length > 1
    ? ambiguous(named, name, param)
    : modelNotFound(catalog, { name, param, ids: models.keys() });
}
