// A whole text completion: read for metering, given on with our id, model and `svc` spliced in.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import { type RawWhole, StreamErrorFault, type Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, ReplyEnd, ReplyMeta, Stop } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { heldBack } from '../../../wire/private.ts';
import {
  changeMembers,
  duplicated,
  type Edit,
  memberOf,
  scanArray,
  scanObject,
  splice,
} from '../../../wire/scan.ts';
import { usageText } from '../../openai-chat/caller/usage.ts';
import { keepsUsage } from '../../openai-chat/raw/whole.ts';
import { parseAnswer } from '../../openai-chat/upstream/decode.ts';
import { finishFault, stopOf } from '../../openai-chat/words/stop.ts';
import { findUsage } from '../../openai-chat/words/usage.ts';
import { finishText } from '../caller/text.ts';
import { echoedBytes, finishWord, PLAIN, textOf } from './text.ts';

/** @throws StreamErrorFault for an error object, ProtocolFault when `body` is no text completion otherwise */
export function rawCompletionWhole(body: Buffer, request: CanonicalRequest, target: Target): RawWhole {
  const value = parseAnswer(body);
  const choices = value['choices'] as JsonObject[];
  if (!choices.every(isObject)) throw new ProtocolFault('a choice is not an object');
  const usage = findUsage(value, target.flags);
  const { service_tier: tier, id } = value;
  return {
    usage,
    stop: stopOfAll(choices),
    output_bytes: choices.reduce((sum, choice, at) => sum + outputBytes(choice, at, request), 0),
    tool_calls: 0,
    service_tier: typeof tier === 'string' ? tier : null,
    upstream_id: typeof id === 'string' ? id : null,
    finish(meta, end) {
      const keep = keepsUsage(value['usage'], usage, { end, target });
      return finish(body, value, meta, { end, keep, hide: target.hide });
    },
  };
}

function outputBytes(choice: JsonObject, at: number, request: CanonicalRequest): number {
  const index = typeof choice['index'] === 'number' ? choice['index'] : at;
  return Math.max(0, Buffer.byteLength(textOf(choice)) - echoedBytes(request, index));
}

/** The last choice's stop, or null while any choice has none. */
function stopOfAll(choices: readonly JsonObject[]): Stop | null {
  let stop: Stop | null = null;
  for (const { finish_reason: raw } of choices) {
    if (typeof raw !== 'string' || raw === '') return null;
    const fault = finishFault(raw);
    if (fault !== null) throw new StreamErrorFault(fault);
    stop = stopOf(raw, PLAIN);
  }
  return stop;
}

interface Ending {
  readonly end: ReplyEnd;
  /** The upstream's usage object stays. */
  readonly keep: boolean;
  readonly hide: readonly string[] | undefined;
}

function finish(body: Buffer, value: JsonObject, meta: ReplyMeta, ending: Ending): Buffer {
  const edits = editsOf(body, value, meta, ending);
  if (edits !== null) return splice(body, edits);
  // The scan is not sure, or a key occurs twice: what was parsed is written anew.
  const text = Buffer.from(JSON.stringify(value));
  return splice(text, editsOf(text, value, meta, ending) ?? []);
}

function editsOf(
  body: Buffer,
  value: JsonObject,
  meta: ReplyMeta,
  { end, keep, hide }: Ending,
): Edit[] | null {
  const top = scanObject(body);
  if (top === null || duplicated(top) !== null) return null;
  const changes: Record<string, string | null> = {
    ...heldBack(Object.keys(value), hide),
    id: JSON.stringify(meta.request_id),
    model: JSON.stringify(meta.model),
    svc: svcText(meta, end),
  };
  if (value['object'] !== 'text_completion') changes['object'] = '"text_completion"';
  if (!keep) changes['usage'] = usageText(end.usage);
  const edits = changeMembers(top, changes);
  const list = memberOf(top, 'choices');
  const items = (list === undefined ? null : scanArray(body, list.from)) ?? [];
  for (const [at, { from }] of items.entries()) {
    const choice = (value['choices'] as JsonObject[])[at] as JsonObject;
    const completed = completedMembers(choice, at, end);
    if (Object.keys(completed).length === 0) continue;
    const members = scanObject(body, from);
    if (members === null || duplicated(members) !== null) return null;
    edits.push(...changeMembers(members, completed));
  }
  return edits;
}

/** What every choice has to have and `choice` has not, or has in other words. */
function completedMembers(choice: JsonObject, at: number, end: ReplyEnd): Record<string, string> {
  const members: Record<string, string> = {};
  if (typeof choice['index'] !== 'number') members['index'] = String(at);
  if (typeof choice['text'] !== 'string') members['text'] = '""';
  if (!('logprobs' in choice)) members['logprobs'] = 'null';
  const raw = choice['finish_reason'];
  const own = end.stop !== undefined || typeof raw !== 'string';
  const word = own ? finishText(end.stop ?? null) : finishWord(raw);
  if (word !== raw) members['finish_reason'] = JSON.stringify(word);
  return members;
}
