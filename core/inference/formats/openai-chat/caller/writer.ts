// Writes canonical events as a chat stream (docs/streams.md#chat). It is a state machine that cannot write them in an
// illegal order: a role chunk opens each choice, finish chunks are held back until the end, and `svc` is on the last
// chunk.

import { droppedPart, isSearchStep } from '../../../caller/dropped.ts';
import { chatError } from '../../../caller/error.ts';
import { svcText } from '../../../caller/svc.ts';
import type { StreamWriter } from '../../../canonical/contract.ts';
import { impliedRefusal } from '../../../canonical/refusal.ts';
import type {
  CanonicalEvent,
  Part,
  ReasoningPart,
  ReplyEnd,
  ReplyMeta,
  Stop,
  StreamFault,
  Warning,
} from '../../../canonical/types.ts';
import {
  annotationText,
  audioText,
  callExtra,
  callId,
  detailText,
  finishReason,
  imageText,
  logprobsText,
  stopWarning,
} from './pieces.ts';
import { usageText } from './usage.ts';

type PartStart = Extract<CanonicalEvent, { type: 'part_start' }>;
type PartDelta = Extract<CanonicalEvent, { type: 'part_delta' }>;

export const DONE = 'data: [DONE]\n\n';
export const KEEP_ALIVE = ': svc keep-alive\n\n';

/** The dialect's error event. It has no `choices` and no `id`; with them, clients ignore it. */
export function failText(meta: ReplyMeta, fault: StreamFault, end: ReplyEnd): string {
  const { error } = chatError(fault, meta);
  return `data: {"error":${JSON.stringify(error)},"svc":${svcText(meta, end)}}\n\n${DONE}`;
}

/** State of one choice. */
class Choice {
  readonly index: number;
  /** The chunk text of this choice up to the inside of `delta`. */
  readonly head: string;
  part: Part | null = null;
  calls = 0;
  details = 0;
  /** UTF-16 units of text before the open text part, and in total. */
  text_base = 0;
  text_length = 0;
  /** Text has begun: later reasoning is only sent as details, where its signature survives. */
  text_begun = false;
  refused = false;
  stop: Stop | null = null;

  constructor(index: number, head: string) {
    this.index = index;
    this.head = `${head}{"index":${index},"delta":{`;
  }
}

export class ChatWriter implements StreamWriter {
  readonly #meta: ReplyMeta;
  readonly #head: string;
  /** What follows the choices of a chunk. */
  readonly #tail: string;
  readonly #choices = new Map<number, Choice>();
  #upstream_model: string;
  #tier: string | null = null;
  #lost_citation = false;
  /** Warnings for parts without a place here, by their type. */
  readonly #dropped = new Map<Part['type'], Warning>();

  constructor(meta: ReplyMeta) {
    this.#meta = meta;
    const id = JSON.stringify(meta.request_id);
    const model = JSON.stringify(meta.model);
    this.#head = `data: {"id":${id},"object":"chat.completion.chunk","created":${meta.created},"model":${model},"choices":[`;
    this.#tail = meta.include_usage ? '],"usage":null}\n\n' : ']}\n\n';
    this.#upstream_model = meta.model;
  }

  write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'start':
        if (event.upstream_model !== undefined) this.#upstream_model = event.upstream_model;
        if (event.service_tier !== undefined) this.#tier = event.service_tier;
        return '';
      case 'part_start':
        return this.#start(event);
      case 'part_delta':
        return this.#delta(event);
      case 'part_stop': {
        const choice = this.#choices.get(event.candidate);
        if (choice !== undefined) choice.part = null;
        return '';
      }
      case 'stop': {
        const [choice, opening] = this.#choice(event.candidate);
        choice.stop = event.stop;
        const refusal = impliedRefusal(event.stop, choice.refused);
        return refusal === null ? opening : opening + this.#refusal(choice, refusal.text);
      }
      case 'usage':
        if (event.service_tier !== undefined) this.#tier = event.service_tier;
        return '';
      case 'finish':
      case 'error':
        return '';
    }
  }

  end(end: ReplyEnd): string {
    const opening = this.#choices.size === 0 ? this.#choice(0)[1] : '';
    const warnings: Warning[] = [];
    if (this.#lost_citation) {
      warnings.push({
        code: 'citation_dropped',
        message: 'Citations other than of web pages cannot be shown here.',
      });
    }
    warnings.push(...this.#dropped.values());
    const finishes: string[] = [];
    for (const choice of this.#choices.values()) {
      const stop = end.stop ?? choice.stop;
      const warning = stopWarning(stop);
      if (warning !== null) warnings.push(warning);
      const reason = finishReason(stop, this.#meta.legacy_functions);
      finishes.push(`${choice.head}},"logprobs":null,"finish_reason":"${reason}"}`);
    }
    const tier = this.#tier === null ? '' : `,"service_tier":${JSON.stringify(this.#tier)}`;
    const last = `${tier},"svc":${svcText(this.#meta, end, warnings)}}\n\n`;
    if (this.#meta.include_usage) {
      const held = finishes.map((finish) => finish + this.#tail).join('');
      return `${opening}${held}${this.#head}],"usage":${usageText(end.usage)}${last}${DONE}`;
    }
    const before = finishes.slice(0, -1).map((finish) => finish + this.#tail);
    return `${opening}${before.join('')}${finishes.at(-1)}]${last}${DONE}`;
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    return failText(this.#meta, fault, end);
  }

  keepAlive(): string {
    return KEEP_ALIVE;
  }

  /** The choice, and its role chunk when it is new. */
  #choice(index: number): [Choice, string] {
    const known = this.#choices.get(index);
    if (known !== undefined) return [known, ''];
    const choice = new Choice(index, this.#head);
    this.#choices.set(index, choice);
    return [choice, this.#chunk(choice, '"role":"assistant","content":""')];
  }

  #chunk(choice: Choice, delta: string, logprobs = 'null'): string {
    return `${choice.head}${delta}},"logprobs":${logprobs},"finish_reason":null}${this.#tail}`;
  }

  #start({ candidate, content }: PartStart): string {
    const [choice, opening] = this.#choice(candidate);
    choice.part = content;
    switch (content.type) {
      case 'text':
        choice.text_base = choice.text_length;
        return opening + this.#whole(choice, content.text);
      case 'refusal':
        choice.refused = true;
        return opening + this.#whole(choice, content.text);
      case 'reasoning':
        return opening + this.#reasoningStart(choice, content);
      case 'tool_call':
        return opening + this.#callStart(choice, content);
      case 'image':
        return opening + this.#chunk(choice, `"images":[${imageText(content)}]`);
      case 'audio': {
        const empty =
          'base64' in content.src && content.src.base64 === '' && content.transcript === undefined;
        return empty ? opening : opening + this.#chunk(choice, `"audio":${audioText(content)}`);
      }
      default:
        if (!isSearchStep(content)) this.#dropped.set(content.type, droppedPart(content));
        return opening;
    }
  }

  /** A text that is already in the opening event. */
  #whole(choice: Choice, text: string): string {
    return text === '' ? '' : this.#text(choice, text, undefined);
  }

  #reasoningStart(choice: Choice, part: ReasoningPart): string {
    if (this.#meta.reasoning === 'exclude') return '';
    choice.details++;
    if (part.kind === 'encrypted') return this.#detail(choice, part, '', undefined);
    const text = part.text === '' ? '' : this.#detail(choice, part, part.text, undefined);
    return part.signature === undefined ? text : text + this.#detail(choice, part, '', part.signature);
  }

  #detail(choice: Choice, part: ReasoningPart, text: string, signature: string | undefined): string {
    const index = choice.details - 1;
    const detail = detailText(part, { index, text, signature, upstream_model: this.#upstream_model });
    const content = text === '' || choice.text_begun ? '' : `"reasoning_content":${JSON.stringify(text)},`;
    return this.#chunk(choice, `${content}"reasoning_details":[${detail}]`);
  }

  #callStart(choice: Choice, part: Extract<Part, { type: 'tool_call' }>): string {
    const name = JSON.stringify(part.name);
    const index = choice.calls++;
    let start: string;
    if (this.#meta.legacy_functions) {
      if (index > 0) return '';
      start = `"function_call":{"name":${name},"arguments":""}`;
    } else {
      const id = JSON.stringify(callId(part, this.#meta.request_id, index));
      const body =
        part.kind === 'custom'
          ? `"type":"custom","custom":{"name":${name},"input":""}`
          : `"type":"function","function":{"name":${name},"arguments":""}${callExtra(part)}`;
      start = `"tool_calls":[{"index":${index},"id":${id},${body}}]`;
    }
    const text = part.arguments === '' ? '' : this.#arguments(choice, part, part.arguments);
    return this.#chunk(choice, start) + text;
  }

  #arguments(choice: Choice, part: Part, text: string): string {
    const index = choice.calls - 1;
    const json = JSON.stringify(text);
    if (this.#meta.legacy_functions) {
      return index > 0 ? '' : this.#chunk(choice, `"function_call":{"arguments":${json}}`);
    }
    const body =
      part.type === 'tool_call' && part.kind === 'custom'
        ? `"custom":{"input":${json}}`
        : `"function":{"arguments":${json}}`;
    return this.#chunk(choice, `"tool_calls":[{"index":${index},${body}}]`);
  }

  #text(choice: Choice, text: string, logprobs: PartDelta['logprobs']): string {
    const probs = logprobs === undefined ? 'null' : logprobsText(logprobs);
    if (choice.part?.type === 'refusal') return this.#refusal(choice, text, probs);
    choice.text_begun = true;
    choice.text_length += text.length;
    return this.#chunk(choice, `"content":${JSON.stringify(text)}`, probs);
  }

  #refusal(choice: Choice, text: string, probs?: string): string {
    return this.#chunk(choice, `"refusal":${JSON.stringify(text)}`, probs);
  }

  #delta(event: PartDelta): string {
    const choice = this.#choices.get(event.candidate);
    const part = choice?.part ?? null;
    if (choice === undefined || part === null) return '';
    switch (part.type) {
      case 'text':
      case 'refusal': {
        const hasText = event.text !== undefined || event.logprobs !== undefined;
        const text = hasText ? this.#text(choice, event.text ?? '', event.logprobs) : '';
        return event.citation === undefined ? text : text + this.#annotation(choice, event.citation);
      }
      case 'reasoning':
        return this.#reasoningDelta(choice, part, event);
      case 'tool_call':
        return event.arguments === undefined || event.arguments === ''
          ? ''
          : this.#arguments(choice, part, event.arguments);
      case 'audio': {
        const members: Record<string, unknown> = { ...part.ext };
        if (event.data !== undefined) members['data'] = event.data;
        if (event.text !== undefined) members['transcript'] = event.text;
        return this.#chunk(choice, `"audio":${JSON.stringify(members)}`);
      }
      default:
        return '';
    }
  }

  #reasoningDelta(choice: Choice, part: ReasoningPart, event: PartDelta): string {
    if (this.#meta.reasoning === 'exclude') return '';
    const text =
      event.text === undefined || event.text === '' ? '' : this.#detail(choice, part, event.text, undefined);
    if (event.data !== undefined) {
      const whole: ReasoningPart = { ...part, kind: 'encrypted', data: event.data };
      return text + this.#detail(choice, whole, '', undefined);
    }
    return event.signature === undefined ? text : text + this.#detail(choice, part, '', event.signature);
  }

  #annotation(choice: Choice, citation: NonNullable<PartDelta['citation']>): string {
    const text = annotationText(citation, { from: choice.text_base, to: choice.text_length });
    if (text !== null) return this.#chunk(choice, `"annotations":[${text}]`);
    this.#lost_citation = true;
    return '';
  }
}
