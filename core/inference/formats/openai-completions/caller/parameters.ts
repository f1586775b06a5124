// Which members of a completion ask for each parameter: those of chat, except for the cap and the probabilities.
import { membersOf, type Reading, type Readings, UNSAID } from '../../../caller/parameters.ts';
import { parameterSchema } from '../../../canonical/parameters.ts';
import { READINGS as ofChat, max_tokens as ofChatCap } from '../../openai-chat/caller/parameters.ts';

/** A cap of 0 asks only for the prompt, with `echo` and `logprobs`. */
const max_tokens: Reading<number> = {
  members: { ...ofChatCap.members, max_tokens: { ...parameterSchema('max_tokens'), minimum: 0 } },
  read(body, path) {
    const { max_tokens: written, ...rest } = body;
    if (written !== 0) return ofChatCap.read(body, path);
    ofChatCap.read(rest, path);
    return 0;
  },
};

export const READINGS = {
  ...ofChat,
  max_tokens,
  // They count here and switch there, and the answer shows them in another form (`CompletionPreferences.asks`).
  logprobs: UNSAID,
} as const satisfies Readings;

/** The members of a completion that ask for parameters, with their schemas. */
export const parameterMembers = membersOf(READINGS);
