// The caller's own bytes for an endpoint with a completions path: only the gateway's fields are rewritten, as in the
// raw lane of chats.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { changeMembers, distinct, memberOf, scanObject, splice, type TopLevel } from '../../../wire/scan.ts';
import { quirkChanges } from '../../openai-chat/raw/quirks.ts';
import { identityChanges, isPresent, streamEdits } from '../../openai-chat/raw/request.ts';
import { takes } from '../../openai-chat/words/fields.ts';

/** Path below the provider's base URL. */
const COMPLETIONS_PATH = '/completions';

/** @throws ServiceError invalid_json when a key of an object that is rewritten occurs twice */
export function rawCompletionRequest(
  body: Buffer,
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
  known?: TopLevel,
): UpstreamRequest {
  const top = distinct(known ?? scanObject(body));
  const changes: Record<string, string | null> = {
    model: JSON.stringify(target.upstream_model),
    svc: null,
    // This path stores nothing, and servers that know no such field refuse it.
    store: null,
    // The cap has one name here.
    max_completion_tokens: null,
    // Tags are ours, unless the provider's account is the caller's.
    ...(options.own_key === true ? {} : { metadata: null }),
  };
  identityChanges(changes, (name) => isPresent(body, top, name), options);
  if (!takes(target, 'service_tier')) changes['service_tier'] = null;
  if (options.max_tokens !== null) {
    const cap = String(options.max_tokens);
    const member = memberOf(top, 'max_tokens');
    const same = member !== undefined && body.toString('latin1', member.from, member.to) === cap;
    if (!same) changes['max_tokens'] = cap;
  }
  const edits = streamEdits(changes, body, top, request, target);
  quirkChanges(changes, body, top, target, options);
  for (const [name, value] of Object.entries(options.extra as JsonObject))
    changes[name] = JSON.stringify(value);
  const spliced = splice(body, [...changeMembers(top, changes), ...edits]);
  return { path: COMPLETIONS_PATH, headers: [], body: spliced };
}
