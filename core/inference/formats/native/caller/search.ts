// Tools of all families, which a caller of this format may send, and the search of the web among them.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Family, SearchWish } from '../../../canonical/types.ts';
import * as messages from '../../anthropic-messages/words/search.ts';
import * as gemini from '../../gemini/words/search.ts';
import * as responses from '../../openai-responses/words/search.ts';

/** What `tool`, in the wire of `family`, asks of a search; undefined when it is another tool. @throws ServiceError invalid_request */
export function readSearchTool(tool: JsonObject, path: string, family: Family): SearchWish | undefined {
  switch (family) {
    case 'anthropic_messages':
      return messages.readSearchTool(tool, path);
    case 'openai_responses':
      return responses.readSearchTool(tool, path);
    case 'gemini':
      return gemini.readSearchTool(tool);
    default:
      return undefined;
  }
}
