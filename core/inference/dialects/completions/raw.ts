// Callers of the completions dialect on endpoints that have its path (decisions 4.4, row 1).
import type { RawLane } from '../../canonical/contract.ts';
import { speaks } from '../../providers/openai-chat/fields.ts';
import { RawCompletionsRelay } from './raw-relay.ts';
import { rawCompletionRequest } from './raw-request.ts';
import { rawCompletionWhole } from './raw-whole.ts';

/** Family `openai_chat` where the endpoint has the flag `completions_path`; elsewhere the prompt becomes a message. */
export const rawCompletions: RawLane = {
  dialect: 'completions',
  family: 'openai_chat',
  serves: (target) => speaks(target, 'completions'),
  request: rawCompletionRequest,
  whole: rawCompletionWhole,
  relay: (meta, request, target) => new RawCompletionsRelay(meta, request, target),
};
