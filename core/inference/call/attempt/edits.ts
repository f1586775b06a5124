// The conversation as an attempt sends it, where the caller leaves it to the provider what of it goes and the provider
// does not do that.

import type { Adapter, Dialect, Target } from '../../canonical/contract.ts';
import type { AppliedEdit } from '../../canonical/edits/edit.ts';
import { editMessages } from '../../canonical/edits/edits.ts';
import { withoutUnrun } from '../../canonical/tools/server-tools.ts';
import type { CanonicalRequest, ReplyEcho } from '../../canonical/types.ts';

const BYTES_PER_TOKEN = 4;

/**
 * `request` as it is written `anew` for an endpoint, and what has been cleared of it; null: the caller's own bytes go, and
 * the provider edits, if anybody. Tools that the endpoint does not run are left out.
 */
export function edited(
  request: CanonicalRequest,
  prompt_bytes: number,
  anew: { readonly adapter: Adapter; readonly target: Target } | null,
): { sent: CanonicalRequest; applied: readonly AppliedEdit[] | undefined } {
  if (anew === null) return { sent: request, applied: undefined };
  const sent = withoutUnrun(request, anew.adapter, anew.target);
  const { context_edits } = request;
  if (context_edits === undefined) return { sent, applied: undefined };
  const estimate = Math.ceil(prompt_bytes / BYTES_PER_TOKEN);
  const { messages, applied } = editMessages(request.messages, context_edits, estimate);
  return { sent: { ...sent, messages: [...messages] }, applied };
}

/**
 * What the answer repeats of the request, as one text, because the request's objects are dropped after preparing the
 * attempt.
 */
export function echoOf(dialect: Dialect, { echo }: CanonicalRequest): { echo?: ReplyEcho } {
  if (echo === undefined || !dialect.repeats) return {};
  const members = JSON.stringify(echo.members).slice(1, -1);
  return { echo: { members, encrypted_reasoning: echo.encrypted_reasoning } };
}
