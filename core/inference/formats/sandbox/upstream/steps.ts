// From a draft to what happens on the wire: events, pauses and faults, in order.
import type { CanonicalEvent, Part, Stop, Usage } from '../../../canonical/types.ts';
import { errorWords } from './faults.ts';
import type { Draft, DraftPart } from './models.ts';
import { signatureOf } from './signature.ts';
import { piecesOf, slices, wordPieces } from './text.ts';
import { cutToTokens, tokensOf } from './tokens.ts';

/** An event, or something that is not one. `flush` ends a read; `stall` is silence for ever. */
export type Step =
  | CanonicalEvent
  | { type: 'wait'; ms: number }
  | { type: 'flush' }
  | { type: 'stall' }
  | { type: 'raw'; text: string };

interface StepsInput {
  readonly draft: Draft;
  readonly upstream_model: string;
  readonly upstream_id: string;
  /** Prompt side; the output side is counted as it is written. */
  readonly usage: Usage;
  /** Per candidate. */
  readonly max_tokens: number;
  readonly stop_sequences: readonly string[];
  readonly chunks: number | undefined;
  readonly duration_ms: number | undefined;
}

interface Candidate {
  parts: DraftPart[];
  stop: Stop;
}

/** The steps of a call. Lazy: a long answer is produced as it is sent. */
export function* stepsOf(input: StepsInput): Generator<Step> {
  const { draft } = input;
  const usage = { ...input.usage };
  const interrupt = 'after' in draft.ending ? draft.ending : null;
  const candidates = draft.candidates.map((parts) => limited(parts, input, usage));
  const gap_ms = gapOf(input, candidates);
  let pieces = 0;
  yield startOf(input);
  if (draft.ttft_ms > 0) yield { type: 'wait', ms: draft.ttft_ms };
  for (const [candidate, { parts, stop }] of candidates.entries()) {
    for (const [part, { content, hidden_tokens = 0 }] of parts.entries()) {
      let sent = '';
      yield { type: 'part_start', candidate, part, content: opened(content) };
      for (const piece of cut(content, input)) {
        if (interrupt !== null && pieces >= interrupt.after) break;
        if (pieces++ > 0 && gap_ms > 0) yield { type: 'wait', ms: gap_ms };
        sent += piece;
        yield deltaOf(content, candidate, part, piece);
      }
      count(usage, content, sent, hidden_tokens);
      if (interrupt !== null && (pieces >= interrupt.after || isLast(candidates, candidate, part))) {
        yield* interrupted(draft, candidate, part, usage);
        return;
      }
      if (content.type === 'reasoning' && content.signature !== undefined) {
        yield { type: 'part_delta', candidate, part, signature: content.signature };
      }
      yield { type: 'part_stop', candidate, part };
    }
    const faultDue = interrupt !== null && candidate === candidates.length - 1;
    if (draft.ending.kind !== 'empty' && !faultDue) yield { type: 'stop', candidate, stop };
  }
  // A cap of 0 leaves no part to interrupt; the fault occurs nevertheless.
  if (interrupt !== null) yield* interrupted(draft, null, 0, usage);
  else {
    if (draft.ending.kind !== 'no_usage') yield { type: 'usage', usage };
    yield { type: 'finish' };
  }
}

function startOf({ upstream_model, upstream_id, usage, draft }: StepsInput): CanonicalEvent {
  const { input_tokens, cache_read_tokens, cache_write_tokens } = usage;
  return {
    type: 'start',
    upstream_model,
    upstream_id,
    ...(draft.ending.kind !== 'no_usage' && {
      usage: { input_tokens, cache_read_tokens, cache_write_tokens },
    }),
  };
}

function* interrupted(draft: Draft, candidate: number | null, part: number, usage: Usage): Generator<Step> {
  const end = draft.ending;
  yield { type: 'flush' };
  if (end.kind === 'filter') {
    if (candidate !== null) yield { type: 'part_stop', candidate, part };
    for (let i = candidate ?? 0; i < draft.candidates.length; i++) {
      yield { type: 'stop', candidate: i, stop: { reason: 'content_filter', raw: 'content_filter' } };
    }
    yield { type: 'usage', usage };
    yield { type: 'finish' };
  } else if (end.kind === 'error') {
    const {
      type = 'api_error',
      code = 'server_error',
      message = 'The server had an error.',
    } = errorWords[end.status] ?? {};
    const fault = { class: 'stream' as const, status: 200, message, type, code, inner: end.inner };
    yield { type: 'error', fault };
  } else if (end.kind === 'stall') yield { type: 'stall' };
  else if (end.kind === 'garbage') yield { type: 'raw', text: '{"type":"part_delta","candidate":0,"pa\n' };
}

/** `parts` limited by the cap and the stop sequences, and the reason why they end. */
function limited(parts: readonly DraftPart[], input: StepsInput, usage: Usage): Candidate {
  const prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const room = input.draft.context === null ? Number.POSITIVE_INFINITY : input.draft.context - prompt;
  let left = Math.min(input.max_tokens, room);
  const full: Stop =
    room < input.max_tokens
      ? { reason: 'context_window', raw: 'length' }
      : { reason: 'max_tokens', raw: 'length' };
  const kept: DraftPart[] = [];
  for (const draft of parts) {
    const sequence =
      draft.content.type === 'text' ? firstStop(draft.content.text, input.stop_sequences) : null;
    const whole = sequence === null ? bodyOf(draft.content) : bodyOf(draft.content).slice(0, sequence.at);
    const fixed =
      (draft.content.type === 'tool_call' ? tokensOf(draft.content.name) : 0) + (draft.hidden_tokens ?? 0);
    if (left < fixed || (left === 0 && whole !== '')) return { parts: kept, stop: full };
    const body = cutToTokens(whole, left - fixed);
    left -= fixed + tokensOf(body);
    kept.push({ ...draft, content: filled(draft.content, body) });
    if (body.length < whole.length) return { parts: kept, stop: full };
    if (sequence !== null)
      return { parts: kept, stop: { reason: 'stop_sequence', sequence: sequence.text, raw: 'stop' } };
  }
  return { parts: kept, stop: input.draft.stop };
}

function firstStop(text: string, sequences: readonly string[]): { at: number; text: string } | null {
  let first: { at: number; text: string } | null = null;
  for (const sequence of sequences) {
    const at = sequence === '' ? -1 : text.indexOf(sequence);
    if (at >= 0 && (first === null || at < first.at)) first = { at, text: sequence };
  }
  return first;
}

function count(usage: Usage, content: Part, sent: string, hidden: number): void {
  const tokens = tokensOf(sent) + hidden + (content.type === 'tool_call' ? tokensOf(content.name) : 0);
  usage.output_tokens += tokens;
  if (content.type === 'reasoning') usage.reasoning_tokens += tokens;
}

function gapOf(input: StepsInput, candidates: readonly Candidate[]): number {
  if (input.duration_ms === undefined) return input.draft.gap_ms;
  let pieces = 0;
  for (const { parts } of candidates) for (const { content } of parts) pieces += cut(content, input).length;
  return input.duration_ms / Math.max(1, pieces - 1);
}

function cut(content: Part, input: StepsInput): string[] {
  const body = bodyOf(content);
  if (input.draft.piece_length !== null) return slices(body, input.draft.piece_length);
  if (input.chunks !== undefined) return piecesOf(body, input.chunks);
  // Arguments come in several deltas, as everywhere.
  return content.type === 'tool_call'
    ? piecesOf(body, Math.min(8, Math.max(2, body.length / 8)))
    : wordPieces(body);
}

/** The text of a part that is streamed: text or arguments. */
function bodyOf(content: Part): string {
  if (content.type === 'tool_call') return content.arguments;
  return 'text' in content ? content.text : '';
}

function filled(content: Part, body: string): Part {
  if (content.type === 'tool_call') return { ...content, arguments: body };
  if (content.type === 'reasoning') {
    return {
      ...content,
      text: body,
      ...(content.signature !== undefined && { signature: signatureOf(body) }),
    };
  }
  return 'text' in content ? { ...content, text: body } : content;
}

function opened(content: Part): Part {
  if (content.type === 'tool_call') return { ...content, arguments: '' };
  if (content.type === 'reasoning') {
    const { signature: _later, ...rest } = content;
    return { ...rest, text: '' };
  }
  return 'text' in content ? { ...content, text: '' } : content;
}

function deltaOf(content: Part, candidate: number, part: number, piece: string): CanonicalEvent {
  return content.type === 'tool_call'
    ? { type: 'part_delta', candidate, part, arguments: piece }
    : { type: 'part_delta', candidate, part, text: piece };
}

function isLast(candidates: readonly Candidate[], candidate: number, part: number): boolean {
  return candidate === candidates.length - 1 && part === (candidates[candidate]?.parts.length ?? 0) - 1;
}
