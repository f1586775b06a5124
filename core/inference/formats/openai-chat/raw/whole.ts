// A whole answer of the same format: read for metering, and passed on with our id, model and `svc` spliced in.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import { type RawWhole, StreamErrorFault, type Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, ReplyEnd, ReplyMeta, Stop, Usage } from '../../../canonical/types.ts';
import { hasCounts, hasNoOthers, isCharged } from '../../../canonical/usage.ts';
import { heldBack } from '../../../wire/private.ts';
import {
  changeMembers,
  duplicated,
  type Edit,
  memberOf,
  scanArray,
  scanObject,
  splice,
  type TopLevel,
} from '../../../wire/scan.ts';
import { chatFinish, finishReason } from '../caller/pieces.ts';
import { usageText } from '../caller/usage.ts';
import { parseAnswer } from '../upstream/decode.ts';
import { searchesSold } from '../words/fields.ts';
import { plainContent } from '../words/parts.ts';
import { finishFault, stopOf } from '../words/stop.ts';
import { findUsage, USAGE_FLAGS } from '../words/usage.ts';

/** Names under which servers send reasoning. */
export const REASONING_MEMBERS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/** The change that removes them. */
export const WITHOUT_REASONING: Readonly<Record<string, null>> = Object.fromEntries(
  REASONING_MEMBERS.map((name) => [name, null]),
);

/** Output of a message or delta: bytes of its text, reasoning and arguments, and the number of such pieces. */
export function outputOf(message: JsonObject): { bytes: number; pieces: number } {
  const output = { bytes: 0, pieces: 0 };
  const add = (value: unknown): boolean => {
    const bytes = length(value);
    output.bytes += bytes;
    if (bytes > 0) output.pieces++;
    return bytes > 0;
  };
  add(message['content']);
  add(message['refusal']);
  if (!add(message['reasoning_content'])) add(message['reasoning']);
  const calls = message['tool_calls'];
  if (Array.isArray(calls)) {
    for (const call of calls) {
      if (!isObject(call)) continue;
      const { function: body, custom } = call;
      if (isObject(body)) add(body['arguments']);
      if (isObject(custom)) add(custom['input']);
    }
  }
  const single = message['function_call'];
  if (isObject(single)) add(single['arguments']);
  return output;
}

function callCount(message: JsonObject): number {
  const calls = message['tool_calls'];
  if (Array.isArray(calls) && calls.length > 0) return calls.length;
  return isObject(message['function_call']) ? 1 : 0;
}

function length(value: unknown): number {
  return typeof value === 'string' && value !== '' ? Buffer.byteLength(value) : 0;
}

const PROMPT_PARTS = ['cached_tokens', 'cache_write_tokens', 'audio_tokens'];
const COMPLETION_PARTS = [
  'reasoning_tokens',
  'audio_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
];

function isDetail(sent: unknown, required: string, all: readonly string[]): boolean {
  return sent === undefined || (hasCounts(sent, [required]) && hasNoOthers(sent, all));
}

/**
 * Whether the provider's own usage object, which is `sent`, stays: it says what was charged, in the counts that clients
 * of this dialect read.
 */
export function keepsUsage(
  sent: unknown,
  usage: Usage | null,
  how: { readonly end: ReplyEnd; readonly target: Target },
): boolean {
  if (!isCharged(usage, how.end) || how.target.flags.some((flag) => USAGE_FLAGS.includes(flag))) return false;
  if (!isObject(sent) || !hasCounts(sent, ['prompt_tokens', 'completion_tokens', 'total_tokens']))
    return false;
  return (
    isDetail(sent['prompt_tokens_details'], 'cached_tokens', PROMPT_PARTS) &&
    isDetail(sent['completion_tokens_details'], 'reasoning_tokens', COMPLETION_PARTS)
  );
}

function hasList(choice: unknown): boolean {
  return isObject(choice) && isObject(choice['message']) && Array.isArray(choice['message']['content']);
}

function withPlainContent(choice: unknown): unknown {
  if (!isObject(choice) || !isObject(choice['message'])) return choice;
  return { ...choice, message: plainContent(choice['message']) };
}

/** @throws StreamErrorFault for an error object, ProtocolFault when `body` is no chat completion otherwise */
export function rawWhole(body: Buffer, request: CanonicalRequest, target: Target): RawWhole {
  let value = parseAnswer(body);
  if ((value['choices'] as unknown[]).some(hasList)) {
    value = { ...value, choices: (value['choices'] as unknown[]).map(withPlainContent) };
    body = Buffer.from(JSON.stringify(value));
  }
  const choices = (value['choices'] as unknown[]).filter(isObject);
  const usage = findUsage(value, target.flags, searchesSold(request, target));
  const { service_tier: tier, id } = value;
  return {
    usage,
    stop: stopOfAll(choices),
    output_bytes: choices.reduce(
      (sum, { message }) => sum + (isObject(message) ? outputOf(message).bytes : 0),
      0,
    ),
    tool_calls: choices.reduce((sum, { message }) => sum + (isObject(message) ? callCount(message) : 0), 0),
    service_tier: typeof tier === 'string' ? tier : null,
    upstream_id: typeof id === 'string' ? id : null,
    finish(meta, end) {
      const keep = keepsUsage(value['usage'], usage, { end, target });
      return finish(body, value, meta, { end, keep, hide: target.hide });
    },
  };
}

/** The last choice's stop reason; null while any choice has none. */
function stopOfAll(choices: readonly JsonObject[]): Stop | null {
  let stop: Stop | null = null;
  for (const { finish_reason: raw, message } of choices) {
    if (typeof raw !== 'string' || raw === '') return null;
    const fault = finishFault(raw);
    if (fault !== null) throw new StreamErrorFault(fault);
    const parts = isObject(message) ? message : {};
    const calls = Array.isArray(parts['tool_calls']) && parts['tool_calls'].length > 0;
    const refusal = typeof parts['refusal'] === 'string' && parts['refusal'] !== '';
    stop = stopOf(raw, { refusal, calls: calls || isObject(parts['function_call']) });
  }
  return stop;
}

const NOTHING_SEEN = { refusal: false, calls: false };

/** Whether a choice ends with a finish reason that this dialect does not have. */
function isOdd({ finish_reason: raw }: JsonObject): boolean {
  return typeof raw === 'string' && chatFinish(raw, NOTHING_SEEN) !== raw;
}

function finishEdits(body: Buffer, choice: TopLevel): Edit[] {
  const member = memberOf(choice, 'finish_reason');
  const raw: unknown =
    member === undefined ? null : JSON.parse(body.toString('utf8', member.from, member.to));
  if (typeof raw !== 'string') return [];
  const message = memberOf(choice, 'message');
  const said =
    message === undefined ? null : (JSON.parse(body.toString('utf8', message.from, message.to)) as unknown);
  const calls = isObject(said) && Array.isArray(said['tool_calls']) && said['tool_calls'].length > 0;
  return changeMembers(choice, { finish_reason: JSON.stringify(chatFinish(raw, { refusal: false, calls })) });
}

interface Ending {
  readonly end: ReplyEnd;
  /** The provider's usage object stays. */
  readonly keep: boolean;
  readonly hide: readonly string[] | undefined;
}

function finish(body: Buffer, value: JsonObject, meta: ReplyMeta, { end, keep, hide }: Ending): Buffer {
  const changes: Record<string, string | null> = {
    ...heldBack(Object.keys(value), hide),
    id: JSON.stringify(meta.request_id),
    model: JSON.stringify(meta.model),
    svc: svcText(meta, end),
  };
  if (!keep) changes['usage'] = usageText(end.usage);
  const odd = (value['choices'] as JsonObject[]).some(isOdd);
  const edits = editsOf(body, changes, meta, end, odd);
  if (edits !== null) return splice(body, edits);
  // The scan is not certain, or a key occurs twice: the parsed value is written.
  const text = Buffer.from(JSON.stringify(value));
  return splice(text, editsOf(text, changes, meta, end, odd) ?? []);
}

function editsOf(
  body: Buffer,
  changes: Record<string, string | null>,
  meta: ReplyMeta,
  end: ReplyEnd,
  odd: boolean,
): Edit[] | null {
  const top = scanObject(body);
  if (top === null || duplicated(top) !== null) return null;
  const edits = changeMembers(top, changes);
  if (end.stop === undefined && meta.reasoning === 'include' && !odd) return edits;
  const choices = memberOf(top, 'choices');
  const items = choices === undefined ? null : scanArray(body, choices.from);
  for (const item of items ?? []) {
    const choice = scanObject(body, item.from);
    if (choice === null || duplicated(choice) !== null) return null;
    if (end.stop !== undefined) {
      const reason = JSON.stringify(finishReason(end.stop, meta.legacy_functions));
      edits.push(...changeMembers(choice, { finish_reason: reason }));
    } else if (odd) {
      edits.push(...finishEdits(body, choice));
    }
    const message = memberOf(choice, 'message');
    const inner = message === undefined ? null : scanObject(body, message.from);
    if (meta.reasoning === 'exclude' && inner !== null)
      edits.push(...changeMembers(inner, WITHOUT_REASONING));
  }
  return edits;
}
