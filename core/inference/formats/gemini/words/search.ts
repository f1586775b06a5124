// Web search in this format.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { SearchPreferences } from '../../../canonical/types.ts';
import type { SearchOption } from '../../../canonical/web-search.ts';

/** Options that this format supports. */
export const SEARCH_OPTIONS: readonly SearchOption[] = [];

/** What `tool` asks of a web search; undefined when it is another tool. */
export function readSearchTool(tool: JsonObject): SearchPreferences | undefined {
  return tool['type'] === 'google_search' ? {} : undefined;
}
