// The caller's own bytes for an endpoint of the same format: only the gateway's fields are rewritten, so that
// numbers, order and unknown fields are preserved.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import {
  changeMembers,
  distinct,
  type Edit,
  memberOf,
  scanObject,
  splice,
  type TopLevel,
} from '../../../wire/scan.ts';
import { CHAT_PATH } from '../upstream/encode.ts';
import { capName, has, hasPaid, paidMembers, takes } from '../words/fields.ts';
import { historyEdits, quirkChanges } from './quirks.ts';

/** @throws ServiceError invalid_json when a key of an object that is rewritten occurs twice */
export function rawRequest(
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
    // Tags are not sent on, unless the account at the provider is the caller's.
    ...(options.own_key === true ? {} : { metadata: null }),
  };
  const present = (name: string): boolean => isPresent(body, top, name);
  identityChanges(changes, present, options);
  if (present('store') || takes(target, 'store')) changes['store'] = 'false';
  if (!takes(target, 'service_tier')) changes['service_tier'] = null;
  for (const [name, feature] of paidMembers) if (!hasPaid(target, feature)) changes[name] = null;
  capChanges(changes, top, body, target, options);
  const edits = streamEdits(changes, body, top, request, target);
  if (target.flags.length > 0) {
    quirkChanges(changes, body, top, target, options);
    edits.push(...historyEdits(body, top, target));
  }
  for (const [name, value] of Object.entries(options.extra as JsonObject))
    changes[name] = JSON.stringify(value);
  return { path: CHAT_PATH, headers: [], body: splice(body, [...changeMembers(top, changes), ...edits]) };
}

/** Whether `name` is present and not null. */
export function isPresent(body: Buffer, top: TopLevel, name: string): boolean {
  const member = memberOf(top, name);
  return member !== undefined && body[member.from] !== 0x6e;
}

/** Only HMACs of end user and cache key leave the process, under the names that the caller used. */
export function identityChanges(
  changes: Record<string, string | null>,
  present: (name: string) => boolean,
  { user, cache_key }: EncodeOptions,
): void {
  for (const name of ['user', 'safety_identifier']) {
    if (present(name)) changes[name] = user === null ? null : JSON.stringify(user);
  }
  if (present('prompt_cache_key'))
    changes['prompt_cache_key'] = cache_key === null ? null : JSON.stringify(cache_key);
}

function capChanges(
  changes: Record<string, string | null>,
  top: TopLevel,
  body: Buffer,
  target: Target,
  { max_tokens }: EncodeOptions,
): void {
  if (max_tokens === null) return;
  const written = isPresent(body, top, 'max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens';
  const name = capName(target, written);
  changes[name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'] = null;
  const member = memberOf(top, name);
  const value = String(max_tokens);
  if (member === undefined || body.toString('latin1', member.from, member.to) !== value)
    changes[name] = value;
}

/** Usage is always requested; a call for a whole answer has no stream options. */
export function streamEdits(
  changes: Record<string, string | null>,
  body: Buffer,
  top: TopLevel,
  request: CanonicalRequest,
  target: Target,
): Edit[] {
  if (!request.stream || has(target, 'no_stream_options')) {
    changes['stream_options'] = null;
    return [];
  }
  const member = memberOf(top, 'stream_options');
  if (member === undefined || body[member.from] !== 0x7b) {
    changes['stream_options'] = '{"include_usage":true}';
    return [];
  }
  return changeMembers(distinct(scanObject(body, member.from)), { include_usage: 'true' });
}
