// The raw lane: a messages call on an endpoint of the same format. The bytes are passed on; only the gateway's fields
// are rewritten.
import { type JsonObject, ServiceError } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import type {
  EncodeOptions,
  RawLane,
  RawWhole,
  Target,
  UpstreamRequest,
} from '../../../canonical/contract.ts';
import { isWrapped } from '../../../canonical/reasoning.ts';
import { canonicalRelay } from '../../../canonical/relay.ts';
import { TOOL_DROPPED } from '../../../canonical/tools/server-tools.ts';
import type { CanonicalAnswer, CanonicalRequest, ReplyEnd, ReplyMeta } from '../../../canonical/types.ts';
import { isCharged } from '../../../canonical/usage.ts';
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
  type TopLevel,
} from '../../../wire/scan.ts';
import { textBytes } from '../../../wire/text-bytes.ts';
import { writeMessage } from '../caller/write.ts';
import { MessagesWriter } from '../caller/writer.ts';
import { decodeMessage, notMessage } from '../upstream/decode.ts';
import { AnthropicDecoder } from '../upstream/decoder.ts';
import { encodeRequest, wireHeaders } from '../upstream/encode.ts';
import { findLosses } from '../upstream/losses.ts';
import { editsContext } from '../words/betas.ts';
import { FORMAT } from '../words/reasoning.ts';
import { readStop, writeStop } from '../words/stop.ts';
import { isSoundWire, readUsage, writeUsage } from '../words/usage.ts';
import { withMissing } from './missing.ts';
import { MessagesRelay } from './relay.ts';

type Span = { from: number; to: number };

function refuseTwice(top: TopLevel, path: string): void {
  const name = duplicated(top);
  if (name === null) return;
  const param = path === '' ? name : `${path}.${name}`;
  // A provider that reads the other copy would see another model, cap or user than was held and priced.
  throw new ServiceError('invalid_json', `The key '${param}' occurs twice.`, { param });
}

/** JSON text of the member `name`, or null. */
function valueText(body: Buffer, top: TopLevel, name: string): string | null {
  const member = memberOf(top, name);
  return member === undefined ? null : body.toString('utf8', member.from, member.to);
}

function topChanges(
  body: Buffer,
  top: TopLevel,
  target: Target,
  options: EncodeOptions,
): Record<string, string | null> {
  const changes: Record<string, string | null> = { model: JSON.stringify(target.upstream_model), svc: null };
  const { max_tokens } = options;
  if (max_tokens !== null && valueText(body, top, 'max_tokens') !== String(max_tokens)) {
    changes['max_tokens'] = String(max_tokens);
  }
  if ((valueText(body, top, 'stream') === 'true') !== options.stream)
    changes['stream'] = String(options.stream);
  if (target.flags.includes('rejects_sampling')) {
    for (const name of ['temperature', 'top_p', 'top_k']) changes[name] = null;
  }
  // Fast mode costs a multiple; only an endpoint that lists the field has a price for it.
  if (!target.capabilities.parameters.includes('speed')) changes['speed'] = null;
  for (const [name, value] of Object.entries(options.extra)) changes[name] = JSON.stringify(value);
  return changes;
}

function hashedUser(body: Buffer, top: TopLevel, user: string | null): Edit[] {
  const metadata = memberOf(top, 'metadata');
  if (user === null || metadata === undefined) return [];
  const inner = scanObject(body, metadata.from);
  if (inner === null) return [];
  refuseTwice(inner, 'metadata');
  return changeMembers(inner, { user_id: JSON.stringify(user) });
}

function hasForeignState(request: CanonicalRequest): boolean {
  return request.messages.some((message) =>
    message.content.some((part) =>
      part.type === 'reasoning'
        ? part.format !== FORMAT
        : part.type === 'tool_call' && part.signature !== undefined,
    ),
  );
}

/** Whether the block at `span` is reasoning that this family did not make or cannot verify. */
function isForeign(body: Buffer, span: Span): boolean {
  const block = scanObject(body, span.from);
  if (block === null) return false;
  const type = valueText(body, block, 'type');
  if (type !== '"thinking"' && type !== '"redacted_thinking"') return false;
  const text = valueText(body, block, type === '"thinking"' ? 'signature' : 'data');
  const state: unknown = text === null ? null : JSON.parse(text);
  return typeof state !== 'string' || state === '' || isWrapped(state);
}

/** One message without other families' reasoning; null when nothing is left of it, its own text when it had none. */
function ownMessage(body: Buffer, span: Span): string | null {
  const text = body.toString('utf8', span.from, span.to);
  const message = scanObject(body, span.from);
  const content = message === null ? undefined : memberOf(message, 'content');
  const blocks = content === undefined ? null : scanArray(body, content.from);
  if (content === undefined || blocks === null) return text;
  const kept = blocks.filter((block) => !isForeign(body, block));
  if (kept.length === blocks.length) return text;
  if (kept.length === 0) return null;
  const inside = kept.map((block) => body.toString('utf8', block.from, block.to)).join(',');
  const before = body.toString('utf8', span.from, content.from);
  return `${before}[${inside}]${body.toString('utf8', content.to, span.to)}`;
}

function ownMessages(body: Buffer, top: TopLevel): Edit[] {
  const messages = memberOf(top, 'messages');
  const items = messages === undefined ? null : scanArray(body, messages.from);
  if (messages === undefined || items === null) return [];
  const texts = items.map((item) => ownMessage(body, item)).filter((text) => text !== null);
  return [{ from: messages.from, to: messages.to, text: `[${texts.join(',')}]` }];
}

// What would change the caller's contract, or has no price, is never sent silently: it is refused, or left out if the
// caller said `drop`.
function withoutLost(request: CanonicalRequest, target: Target): Record<string, null> {
  const left: Record<string, null> = {};
  for (const { class: kind, code, param, message } of findLosses(request, target)) {
    // A tool that is left out is so in the canonical lane, never in these bytes.
    if (kind !== 'content' && code !== TOOL_DROPPED) continue;
    if (request.svc.compat !== 'drop' || !Object.hasOwn(request.ext ?? {}, param)) {
      throw new ServiceError('unsupported_parameter', message, { param });
    }
    left[param] = null;
  }
  return left;
}

function rawRequest(
  body: Buffer,
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
  known?: TopLevel,
): UpstreamRequest {
  const left = withoutLost(request, target);
  const top = known ?? scanObject(body);
  if (top === null) return encodeRequest(request, target, options);
  refuseTwice(top, '');
  const edits = changeMembers(top, { ...topChanges(body, top, target, options), ...left });
  edits.push(...hashedUser(body, top, options.user));
  if (hasForeignState(request)) edits.push(...ownMessages(body, top));
  return { path: '/messages', headers: wireHeaders(request, target), body: splice(body, edits) };
}

const TOOL_USE = Buffer.from('"tool_use"');

/** Measures the content array at `from`: bytes of text, reasoning and arguments, and the number of calls. */
function contentOf(body: Buffer, from: number): { bytes: number; calls: number } {
  let bytes = 0;
  let calls = 0;
  for (const item of scanArray(body, from) ?? []) {
    const block = scanObject(body, item.from);
    if (block === null) continue;
    for (const { name, from: start, to } of block.members) {
      if (name === 'input') bytes += to - start;
      else if ((name === 'text' || name === 'thinking') && body[start] === 34)
        bytes += textBytes(body, start + 1, to - 1);
      else if (name === 'type' && TOOL_USE.compare(body, start, to) === 0) calls++;
    }
  }
  return { bytes, calls };
}

function parsed(body: Buffer, top: TopLevel, name: string): unknown {
  const text = valueText(body, top, name);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolFault(`'${name}' of the answer is not JSON`);
  }
}

function parsedWhole(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

class Whole implements RawWhole {
  readonly usage;
  readonly stop;
  readonly output_bytes: number;
  readonly tool_calls: number;
  readonly service_tier: string | null;
  readonly upstream_id: string | null;
  readonly #body: Buffer;
  readonly #top: TopLevel;
  readonly #usage: JsonObject | undefined;
  readonly #hide: readonly string[] | undefined;

  constructor(body: Buffer, { hide }: Pick<Target, 'hide'> = {}) {
    const top = scanObject(body);
    const content = top === null ? undefined : memberOf(top, 'content');
    if (top === null || content === undefined || duplicated(top) !== null) {
      throw notMessage(content === undefined ? parsedWhole(body) : null);
    }
    const usage = parsed(body, top, 'usage') as JsonObject | undefined;
    this.#body = body;
    this.#top = top;
    this.#usage = usage;
    this.#hide = hide;
    this.usage = readUsage(usage);
    this.stop = readStop({
      stop_reason: parsed(body, top, 'stop_reason'),
      stop_sequence: parsed(body, top, 'stop_sequence'),
      stop_details: parsed(body, top, 'stop_details'),
    });
    const { bytes, calls } = contentOf(body, content.from);
    this.output_bytes = bytes;
    this.tool_calls = calls;
    this.service_tier = typeof usage?.['service_tier'] === 'string' ? usage['service_tier'] : null;
    const id = parsed(body, top, 'id');
    this.upstream_id = typeof id === 'string' ? id : null;
  }

  finish(meta: ReplyMeta, end: ReplyEnd): Buffer {
    const top = this.#top;
    const left = heldBack(
      top.members.map(({ name }) => name),
      this.#hide,
    );
    const changes: Record<string, string | null> = {
      ...left,
      id: `"${meta.request_id}"`,
      model: JSON.stringify(meta.model),
      ...withMissing.message(top),
      svc: svcText(meta, end),
    };
    const edits: Edit[] = [];
    const usage = memberOf(top, 'usage');
    const inner = usage === undefined ? null : scanObject(this.#body, usage.from);
    const kept = isCharged(this.usage, end) && isSoundWire(this.#usage ?? {});
    if (!kept) changes['usage'] = writeUsage(end.usage, this.service_tier ?? undefined);
    else if (inner !== null) edits.push(...changeMembers(inner, withMissing.usage(inner)));
    if (end.stop !== undefined) {
      const written = JSON.parse(`{${writeStop(end.stop)}}`) as JsonObject;
      for (const [name, value] of Object.entries(written)) changes[name] = JSON.stringify(value);
    }
    return splice(this.#body, [...changeMembers(top, changes), ...edits]);
  }
}

class AssembledWhole implements RawWhole {
  readonly usage;
  readonly stop;
  readonly output_bytes: number;
  readonly tool_calls: number;
  readonly service_tier: string | null;
  readonly upstream_id: string | null;
  readonly #answer: CanonicalAnswer;

  constructor(body: Buffer, request: CanonicalRequest) {
    this.#answer = decodeMessage(body, request);
    const whole = new Whole(body);
    this.usage = whole.usage;
    this.stop = whole.stop;
    this.output_bytes = whole.output_bytes;
    this.tool_calls = whole.tool_calls;
    this.service_tier = whole.service_tier;
    this.upstream_id = whole.upstream_id;
  }

  finish(meta: ReplyMeta, end: ReplyEnd): Buffer {
    return Buffer.from(writeMessage(this.#answer, meta, end));
  }
}

/**
 * The raw lane between messages and `anthropic_messages`. A caller that excludes reasoning gets the canonical writer,
 * because leaving blocks out changes the index of every block after them.
 */
export const messagesRawLane: RawLane = {
  dialect: 'messages',
  family: 'anthropic_messages',
  // Edits that the endpoint does not perform are performed here, on the canonical form.
  serves: (target, request) => editsContext(request, target),
  request: rawRequest,
  whole: (body, request, target) =>
    request.svc.reasoning === 'exclude' ? new AssembledWhole(body, request) : new Whole(body, target),
  relay: (meta, request, target) =>
    meta.reasoning === 'exclude'
      ? canonicalRelay(new AnthropicDecoder(request), new MessagesWriter(meta))
      : new MessagesRelay(meta, target.hide),
};
