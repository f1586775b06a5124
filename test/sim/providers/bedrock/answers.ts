// Answers of Converse: the events of a stream, or one body.
import { type Piece, type Said, signThought } from '../content.ts';
import type { Knobs } from '../knobs.ts';
import type { JsonBody } from '../wire.ts';
import { jsonEvent } from './event-stream.ts';

export interface BinaryFrame {
  bytes: Buffer;
  tokens: number;
}

/** The events of a streamed answer, in order. */
export function* framesOf(body: JsonBody, said: Said, knobs: Knobs): Generator<BinaryFrame> {
  const mark = (name: string, data: unknown): BinaryFrame => ({ bytes: jsonEvent(name, data), tokens: 0 });
  const delta = (contentBlockIndex: number, inner: unknown, tokens: number): BinaryFrame => ({
    // The provider pads events, so that their sizes tell nothing.
    bytes: jsonEvent('contentBlockDelta', {
      contentBlockIndex,
      delta: inner,
      p: 'abcdefghij'.slice(tokens % 10),
    }),
    tokens,
  });
  const stopped = (contentBlockIndex: number) => mark('contentBlockStop', { contentBlockIndex, p: 'abc' });
  yield mark('messageStart', { role: 'assistant', p: 'abcdefg' });
  let index = 0;
  if (said.reasoning.length > 0) {
    for (const { text, tokens } of said.reasoning) yield delta(index, { reasoningContent: { text } }, tokens);
    yield delta(index, { reasoningContent: { signature: signThought(joined(said.reasoning)) } }, 0);
    yield stopped(index++);
  }
  if (said.text.length > 0) {
    for (const { text, tokens } of said.text) yield delta(index, { text }, tokens);
    yield stopped(index++);
  }
  for (const { id, name, pieces } of said.tools) {
    yield mark('contentBlockStart', {
      contentBlockIndex: index,
      start: { toolUse: { toolUseId: `tooluse_${id}`, name } },
    });
    for (const { text, tokens } of pieces) yield delta(index, { toolUse: { input: text } }, tokens);
    yield stopped(index++);
  }
  if (knobs.no_finish === 0) yield mark('messageStop', stopOf(body, said, knobs, true));
  if (knobs.no_usage === 0)
    yield mark('metadata', { usage: usageOf(said, knobs), metrics: { latencyMs: 7 } });
}

function joined(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join('');
}

function stopOf(body: JsonBody, said: Said, knobs: Knobs, stream: boolean): JsonBody {
  const words = {
    end: 'end_turn',
    length: 'max_tokens',
    stop_sequence: 'stop_sequence',
    tools: 'tool_use',
    refusal: 'content_filtered',
  };
  const asked = body['additionalModelResponseFieldPaths'];
  const sequence = { stop_sequence: said.stop_sequence };
  return {
    stopReason: knobs.finish ?? words[said.stop],
    ...(Array.isArray(asked) && { additionalModelResponseFields: stream ? { delta: sequence } : sequence }),
  };
}

function usageOf(said: Said, knobs: Knobs): JsonBody {
  const inputTokens = said.prompt_tokens - said.cached - said.written + knobs.over_report;
  const outputTokens = said.completion_tokens + knobs.over_report_output;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens + said.cached + said.written,
    cacheReadInputTokens: said.cached,
    cacheWriteInputTokens: said.written,
    ...(said.written > 0 && { cacheDetails: [{ ttl: '5m', inputTokens: said.written }] }),
  };
}

/** The same answer as one JSON body. */
export function wholeAnswer(body: JsonBody, said: Said, knobs: Knobs): JsonBody {
  const thought = joined(said.reasoning);
  const reasoningText = { text: thought, signature: signThought(thought) };
  const content = [
    ...(thought === '' ? [] : [{ reasoningContent: { reasoningText } }]),
    ...(said.text.length === 0 ? [] : [{ text: joined(said.text) }]),
    ...said.tools.map(({ id, name, pieces }) => ({
      toolUse: { toolUseId: `tooluse_${id}`, name, input: JSON.parse(joined(pieces)) as unknown },
    })),
  ];
  return {
    output: { message: { role: 'assistant', content } },
    ...stopOf(body, said, knobs, false),
    ...(knobs.no_usage === 0 && { usage: usageOf(said, knobs) }),
    metrics: { latencyMs: 7 },
  };
}
