// The caller's own bytes for an endpoint of the same format: only the gateway's fields are rewritten
// (docs/fidelity.md#two-lanes), so that numbers, order and unknown fields are preserved.
import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { isWrapped } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import {
  changeMembers,
  distinct,
  type Edit,
  memberOf,
  scanArray,
  scanObject,
  splice,
  type TopLevel,
} from '../../../wire/scan.ts';
import { rejectsSampling, takes } from '../../openai-chat/words/fields.ts';
import { isThought } from '../caller/read-items.ts';
import { asksEncrypted, ENCRYPTED, RESPONSES_PATH } from '../upstream/encode.ts';
import { isForeign } from '../upstream/losses.ts';

type Changes = Record<string, string | null>;

/** @throws ServiceError invalid_json when a key of the body occurs twice */
export function rawRequest(
  body: Buffer,
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
  known?: TopLevel,
): UpstreamRequest {
  const top = distinct(known ?? scanObject(body));
  const changes: Changes = {
    model: JSON.stringify(target.upstream_model),
    svc: null,
    // Tags, Codex's of its own machine among them, are not sent on, unless the account at the provider is the caller's.
    ...(options.own_key === true ? {} : { metadata: null, client_metadata: null }),
    // Nothing may be stored at a provider, whatever the caller says; by default it would be.
    store: 'false',
  };
  identityChanges(changes, body, top, options);
  if (!takes(target, 'service_tier')) changes['service_tier'] = null;
  if (rejectsSampling(target)) for (const name of ['temperature', 'top_p']) changes[name] = null;
  capChange(changes, body, top, options);
  if (asksEncrypted(target)) includeChange(changes, body, top);
  for (const [name, value] of Object.entries(options.extra)) changes[name] = JSON.stringify(value);
  const edits = changeMembers(top, changes);
  if (hasForeign(request)) edits.push(...ownInput(body, top));
  return { path: RESPONSES_PATH, headers: [], body: splice(body, edits) };
}

/** JSON text of the member `name`; null where it is absent or null. */
function valueText(body: Buffer, top: TopLevel, name: string): string | null {
  const member = memberOf(top, name);
  if (member === undefined || body[member.from] === 0x6e) return null;
  return body.toString('utf8', member.from, member.to);
}

/** Only HMACs of end user and cache key leave the process, under the names that the caller used. */
function identityChanges(changes: Changes, body: Buffer, top: TopLevel, options: EncodeOptions): void {
  const { user, cache_key } = options;
  for (const name of ['user', 'safety_identifier']) {
    if (valueText(body, top, name) !== null) changes[name] = user === null ? null : JSON.stringify(user);
  }
  if (valueText(body, top, 'prompt_cache_key') !== null) {
    changes['prompt_cache_key'] = cache_key === null ? null : JSON.stringify(cache_key);
  }
}

function capChange(changes: Changes, body: Buffer, top: TopLevel, { max_tokens }: EncodeOptions): void {
  if (max_tokens === null) return;
  const value = String(max_tokens);
  if (valueText(body, top, 'max_output_tokens') !== value) changes['max_output_tokens'] = value;
}

/** Encrypted reasoning is always requested; callers who did not ask for it do not get to see it. */
function includeChange(changes: Changes, body: Buffer, top: TopLevel): void {
  const text = valueText(body, top, 'include');
  const listed = text === null ? [] : (JSON.parse(text) as unknown[]);
  if (!listed.includes(ENCRYPTED)) changes['include'] = JSON.stringify([...listed, ENCRYPTED]);
}

function hasForeign({ messages }: CanonicalRequest): boolean {
  return messages.some(({ content }) => content.some(isForeign));
}

/**
 * `input` without reasoning items that the provider could not read: those of other families, and those without their
 * state, which it would look for in its store and refuse the request for.
 */
function ownInput(body: Buffer, top: TopLevel): Edit[] {
  const input = memberOf(top, 'input');
  const items = input === undefined ? null : scanArray(body, input.from);
  if (input === undefined || items === null) return [];
  const kept = items.filter(({ from }) => !isUnreadable(body, from));
  if (kept.length === items.length) return [];
  const texts = kept.map(({ from, to }) => body.toString('utf8', from, to));
  return [{ from: input.from, to: input.to, text: `[${texts.join(',')}]` }];
}

/** Whether `item` is a reference to reasoning, which the provider has not stored. */
function isReferred(body: Buffer, item: TopLevel): boolean {
  const id = valueText(body, item, 'id');
  return id !== null && isThought(JSON.parse(id));
}

function isUnreadable(body: Buffer, from: number): boolean {
  const item = scanObject(body, from);
  if (item === null) return false;
  const type = valueText(body, item, 'type');
  if (type !== '"reasoning"') return (type === null || type === '"item_reference"') && isReferred(body, item);
  const text = valueText(body, item, 'encrypted_content');
  const state: unknown = text === null ? null : JSON.parse(text);
  return typeof state !== 'string' || state === '' || isWrapped(state);
}
