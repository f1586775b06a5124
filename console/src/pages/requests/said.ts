// Filters by what a caller said of a call, which links of other pages bring along. Pure. Read here and not with the other parameters,
// which every page loads.
import { chosen, type RequestsSearch, readRequestsSearch } from '../../app/search.ts';

/** One line of anything, as callers name things; a number was a text of digits before the router read it. */
export function line(value: unknown): string | undefined {
  const text = typeof value === 'number' ? `${value}` : value;
  return typeof text === 'string' && /^[^\u0000-\u001f\u007f]{0,512}$/.test(text) ? text : undefined;
}

const said = ['project', 'app', 'user', 'session', 'tag', 'tag_value'];

/** What is valid of the parameters of the list of calls, with what callers said. */
export function readSaidSearch(raw: Readonly<Record<string, unknown>>): RequestsSearch {
  // A value of a tag alone is no filter, and asks for nothing.
  const filters = Object.fromEntries(said.map((name) => [name, line(raw[name])]));
  return chosen<RequestsSearch>({ ...readRequestsSearch(raw), ...filters });
}
