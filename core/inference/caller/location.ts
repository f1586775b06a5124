// Where the caller of a search of the web is.
import type { SearchPreferences } from '../canonical/types.ts';
import { optionalObject, optionalString } from './read.ts';

const LOCATION = ['city', 'region', 'country', 'timezone'] as const;

/** City, region, country and time zone of the object `value`; undefined when it tells none. @throws ServiceError invalid_request */
export function readLocation(value: unknown, path: string): SearchPreferences['location'] {
  const object = optionalObject(value, path);
  if (object === undefined) return undefined;
  const location: Record<string, string> = {};
  for (const name of LOCATION) {
    const text = optionalString(object[name], `${path}.${name}`);
    if (text !== undefined) location[name] = text;
  }
  return Object.keys(location).length === 0 ? undefined : location;
}
