// The conversation as an attempt sends it, where the caller leaves it to the provider what of it goes and the provider
// does not do that.

import type { RawLane } from '../../canonical/contract.ts';
import type { AppliedEdit } from '../../canonical/edits/edit.ts';
import { editMessages } from '../../canonical/edits/edits.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';

const BYTES_PER_TOKEN = 4;

/** `request` as it is sent in lane `raw`, and what has been cleared; in the raw lane the provider edits, if anybody. */
export function edited(
  request: CanonicalRequest,
  raw: RawLane | null,
  prompt_bytes: number,
): { sent: CanonicalRequest; applied: readonly AppliedEdit[] | undefined } {
  const { context_edits } = request;
  if (context_edits === undefined || raw !== null) return { sent: request, applied: undefined };
  const estimate = Math.ceil(prompt_bytes / BYTES_PER_TOKEN);
  const { messages, applied } = editMessages(request.messages, context_edits, estimate);
  return { sent: { ...request, messages: [...messages] }, applied };
}
