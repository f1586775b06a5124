// The formats whose files, blocks and tools a native caller may refer to.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Adapter } from '../../../canonical/contract.ts';
import type { Family, SearchPreferences } from '../../../canonical/types.ts';

export interface Wires {
  readonly families: readonly Family[];
  /**
   * What `tool`, in the format of `family`, asks of a web search; undefined when it is another tool. @throws
   * ServiceError invalid_request
   */
  searchTool(tool: JsonObject, path: string, family: Family): SearchPreferences | undefined;
}

/** The formats of `adapters` that have something to refer to. */
export function wiresOf(adapters: readonly Adapter[]): Wires {
  const named = new Map(
    adapters.flatMap(({ family, searchTool }) =>
      searchTool === null ? [] : [[family, searchTool] as const],
    ),
  );
  return {
    families: [...named.keys()],
    searchTool: (tool, path, family) => named.get(family)?.(tool, path),
  };
}
