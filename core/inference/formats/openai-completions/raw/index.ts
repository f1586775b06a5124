// The raw lane for callers of the completions dialect on endpoints that have its path.
import type { RawLane } from '../../../canonical/contract.ts';
import { speaks } from '../../openai-chat/words/fields.ts';
import { rawCompletionsRelay } from './relay.ts';
import { rawCompletionRequest } from './request.ts';
import { rawCompletionWhole } from './whole.ts';

/**
 * For family `openai_chat` when the endpoint has the flag `completions_path`; otherwise the prompt becomes a message.
 */
export const rawCompletions: RawLane = {
  dialect: 'completions',
  family: 'openai_chat',
  serves: (target) => speaks(target, 'completions'),
  request: rawCompletionRequest,
  whole: rawCompletionWhole,
  relay: rawCompletionsRelay,
};
