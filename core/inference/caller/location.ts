// Reads the location of a caller that requests a web search.
import type { SearchPreferences } from '../canonical/types.ts';
import { optionalObject, optionalString } from './read.ts';

const LOCATION = ['city', 'region', 'country', 'timezone'] as const;

/**
 * City, region, country and time zone in the object `value`; undefined when it has none of them. @throws ServiceError
 * invalid_request
 */
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
