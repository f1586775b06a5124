// Writes a canonical answer as the JSON text of a chat completion.

import { droppedPart, isSearchStep } from '../../../caller/dropped.ts';
import { svcText } from '../../../caller/svc.ts';
import { impliedRefusal } from '../../../canonical/refusal.ts';
import type {
  Candidate,
  CanonicalAnswer,
  Part,
  ReasoningPart,
  ReplyEnd,
  ReplyMeta,
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

/** What a message collects from its parts. */
interface Gathered {
  content: string | null;
  refusal: string | null;
  reasoning: string;
  details: string[];
  calls: string[];
  function_call: string;
  annotations: string[];
  images: string[];
  audio: string;
  logprobs: string[];
  lost_citation: boolean;
  /** Warnings for parts without a place here, by their type. */
  dropped: Map<Part['type'], Warning>;
}

/** The whole answer as JSON text; `end` has the cost, and the stop reason when a limit cut the answer. */
export function writeChat(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const warnings: Warning[] = [];
  const candidates =
    answer.candidates.length > 0
      ? answer.candidates
      : [{ index: 0, content: [], stop: null } satisfies Candidate];
  const upstream_model = answer.upstream_model ?? meta.model;
  const choices = candidates.map((candidate) =>
    choiceText(candidate, { meta, end, warnings, upstream_model }),
  );
  const tier =
    answer.service_tier === undefined ? '' : `,"service_tier":${JSON.stringify(answer.service_tier)}`;
  const print =
    answer.system_fingerprint === undefined
      ? ''
      : `,"system_fingerprint":${JSON.stringify(answer.system_fingerprint)}`;
  return (
    `{"id":${JSON.stringify(meta.request_id)},"object":"chat.completion","created":${meta.created},` +
    `"model":${JSON.stringify(meta.model)},"choices":[${choices.join(',')}],"usage":${usageText(end.usage)}` +
    `${tier}${print},"svc":${svcText(meta, end, warnings)}}`
  );
}

interface Frame {
  meta: ReplyMeta;
  end: ReplyEnd;
  warnings: Warning[];
  upstream_model: string;
}

function choiceText(candidate: Candidate, { meta, end, warnings, upstream_model }: Frame): string {
  const stop = end.stop ?? candidate.stop;
  const warning = stopWarning(stop);
  if (warning !== null) warnings.push(warning);
  const all: Gathered = {
    content: null,
    refusal: null,
    reasoning: '',
    details: [],
    calls: [],
    function_call: '',
    annotations: [],
    images: [],
    audio: '',
    logprobs: [],
    lost_citation: false,
    dropped: new Map(),
  };
  for (const part of candidate.content) gather(all, part, meta, upstream_model);
  all.refusal ??= impliedRefusal(candidate.stop, false)?.text ?? null;
  if (all.lost_citation) {
    warnings.push({
      code: 'citation_dropped',
      message: 'Citations other than of web pages cannot be shown here.',
    });
  }
  warnings.push(...all.dropped.values());
  let message = `"role":"assistant","content":${JSON.stringify(all.content)},"refusal":${JSON.stringify(all.refusal)}`;
  if (all.annotations.length > 0) message += `,"annotations":[${all.annotations.join(',')}]`;
  if (all.calls.length > 0) message += `,"tool_calls":[${all.calls.join(',')}]`;
  if (all.function_call !== '') message += `,"function_call":${all.function_call}`;
  if (all.audio !== '') message += `,"audio":${all.audio}`;
  if (all.images.length > 0) message += `,"images":[${all.images.join(',')}]`;
  if (all.details.length > 0) {
    message += `,"reasoning_content":${JSON.stringify(all.reasoning)},"reasoning_details":[${all.details.join(',')}]`;
  }
  const logprobs =
    all.logprobs.length === 0 ? 'null' : `{"content":[${all.logprobs.join(',')}],"refusal":null}`;
  const finish = JSON.stringify(finishReason(stop, meta.legacy_functions));
  return `{"index":${candidate.index},"message":{${message}},"logprobs":${logprobs},"finish_reason":${finish}}`;
}

/** Visible reasoning may also carry state, which gets a detail of its own, as in a stream. */
function gatherReasoning(details: string[], part: ReasoningPart, upstream_model: string): void {
  const index = details.length;
  details.push(detailText(part, { index, text: part.text, signature: part.signature, upstream_model }));
  if (part.kind === 'encrypted' || part.data === undefined) return;
  const state: ReasoningPart = { ...part, kind: 'encrypted' };
  details.push(detailText(state, { index, text: '', upstream_model }));
}

function gather(all: Gathered, part: Part, meta: ReplyMeta, upstream_model: string): void {
  switch (part.type) {
    case 'text': {
      const from = all.content?.length ?? 0;
      all.content = (all.content ?? '') + part.text;
      for (const citation of part.citations ?? []) {
        const text = annotationText(citation, { from, to: all.content.length });
        if (text === null) all.lost_citation = true;
        else all.annotations.push(text);
      }
      // The inside of {"content":[…],"refusal":null}.
      if (part.logprobs !== undefined && part.logprobs.length > 0) {
        all.logprobs.push(
          logprobsText(part.logprobs).slice('{"content":['.length, -'],"refusal":null}'.length),
        );
      }
      break;
    }
    case 'refusal':
      all.refusal = (all.refusal ?? '') + part.text;
      break;
    case 'reasoning':
      if (meta.reasoning === 'exclude') break;
      all.reasoning += part.text;
      gatherReasoning(all.details, part, upstream_model);
      break;
    case 'tool_call': {
      const name = JSON.stringify(part.name);
      const text = JSON.stringify(part.arguments);
      if (meta.legacy_functions) {
        if (all.function_call === '') all.function_call = `{"name":${name},"arguments":${text}}`;
        break;
      }
      const id = JSON.stringify(callId(part, meta.request_id, all.calls.length));
      all.calls.push(
        part.kind === 'custom'
          ? `{"id":${id},"type":"custom","custom":{"name":${name},"input":${text}}}`
          : `{"id":${id},"type":"function","function":{"name":${name},"arguments":${text}}${callExtra(part)}}`,
      );
      break;
    }
    case 'image':
      all.images.push(imageText(part));
      break;
    case 'audio':
      all.audio = audioText(part);
      break;
    default:
      if (!isSearchStep(part)) all.dropped.set(part.type, droppedPart(part));
  }
}
