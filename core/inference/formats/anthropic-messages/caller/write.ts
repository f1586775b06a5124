// Writes a whole answer as one message.

import { droppedPart } from '../../../caller/dropped.ts';
import { svcText } from '../../../caller/svc.ts';
import type { CanonicalAnswer, Part, ReplyEnd, ReplyMeta, Stop, Warning } from '../../../canonical/types.ts';
import { writeStop } from '../words/stop.ts';
import { writeUsage } from '../words/usage.ts';
import { callSignature, citationsText, inputOf, sealedData, signatureOf, toolUse, withId } from './blocks.ts';

function thinking(text: string, signature: string): string {
  return `{"type":"thinking","thinking":${JSON.stringify(text)},"signature":${JSON.stringify(signature)}}`;
}

/** JSON texts of the blocks of one part; parts that the dialect cannot show add a warning to `warnings`. */
function blocksOf(part: Part, meta: ReplyMeta, model: string, warnings: Warning[]): string[] {
  switch (part.type) {
    case 'text':
      return [
        `{"type":"text","text":${JSON.stringify(part.text)},"citations":${citationsText(part.citations)}}`,
      ];
    case 'refusal':
      return [`{"type":"text","text":${JSON.stringify(part.text)},"citations":null}`];
    case 'reasoning':
      if (meta.reasoning === 'exclude') return [];
      if (part.kind !== 'encrypted') return [thinking(part.text, signatureOf(part, model))];
      return [`{"type":"redacted_thinking","data":${JSON.stringify(sealedData(part, model))}}`];
    case 'tool_call': {
      const block = toolUse(part, inputOf(part));
      if (part.signature === undefined) return [block];
      return [thinking('', callSignature(part, part.signature, model)), block];
    }
    case 'server_tool':
      if (part.family === 'anthropic_messages') return [JSON.stringify(part.payload)];
      break;
    default:
  }
  warnings.push(droppedPart(part));
  return [];
}

/** The stop reason that the caller gets, and the warnings about it (docs/compatibility.md#answers). */
export function reportedStop(stop: Stop | null, end: ReplyEnd, refused: boolean, warnings: Warning[]): Stop {
  const reported = end.stop ?? stop ?? { reason: 'end_turn' };
  if (reported.reason === 'malformed') {
    warnings.push({
      code: 'malformed_output',
      message: 'The provider reports that its answer is malformed.',
    });
  }
  return refused && reported.reason === 'end_turn' ? { ...reported, reason: 'refusal' } : reported;
}

/**
 * What the gateway has cleared from the conversation, as a member with a comma before it; '' when nothing was
 * requested.
 */
export function appliedEdits({ applied_edits }: ReplyMeta): string {
  if (applied_edits === undefined) return '';
  return `,"context_management":${JSON.stringify({ applied_edits })}`;
}

/** The answer as JSON text: every key of the dialect is present, with null when it has no value. */
export function writeMessage(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const candidate = answer.candidates[0];
  let calls = 0;
  const content = (candidate?.content ?? []).map((part) =>
    part.type === 'tool_call' ? withId(part, meta.request_id, calls++) : part,
  );
  const warnings: Warning[] = [];
  const model = answer.upstream_model ?? meta.model;
  const blocks = content.flatMap((part) => blocksOf(part, meta, model, warnings));
  const refused = content.some((part) => part.type === 'refusal');
  const stop = reportedStop(candidate?.stop ?? null, end, refused, warnings);
  return (
    `{"id":"${meta.request_id}","type":"message","role":"assistant","model":${JSON.stringify(meta.model)}` +
    `,"content":[${blocks.join(',')}],${writeStop(stop)},"container":null,"diagnostics":null` +
    `${appliedEdits(meta)},"usage":${writeUsage(end.usage, answer.service_tier)},"svc":${svcText(meta, end, warnings)}}`
  );
}
