// The writer cannot leave the grammar, whatever events it is given, and says the same as the whole answer.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { counted, paid } from '../../../../../test/grammar/messages-cases.ts';
import { checkResponsesStream } from '../../../../../test/grammar/responses.ts';
import { finalResponse, meta } from '../../../../../test/grammar/responses-cases.ts';
import { unfoldAnswer } from '../../../canonical/assemble.ts';
import type { CanonicalAnswer, CanonicalEvent, Part, StopReason } from '../../../canonical/types.ts';
import { responses } from './index.ts';

const ended = { ...paid(counted), timing: { ttft_ms: 1, duration_ms: 1_600, upstream_ttft_ms: 1 } };

function stream(events: readonly CanonicalEvent[], change: Partial<typeof meta> = {}): string {
  const writer = responses.writer({ ...meta, ...change });
  return events.map((event) => writer.write(event)).join('') + writer.end(ended);
}

const format = fc.constantFrom(
  'anthropic-claude-v1',
  'openai-responses-v1',
  'google-gemini-v1',
  'unknown' as const,
);
const text = fc.string({ unit: 'binary' });
const json = fc.json({ maxDepth: 2 }).map((value) => `{"v":${value}}`);
const phase = fc.constantFrom({}, { ext: { phase: 'commentary' } }, { ext: { phase: 'final_answer' } });
const logprobs = [
  { token: 'a', logprob: -0.5, bytes: null, top: [{ token: 'b', logprob: -1, bytes: [98] }] },
];
const citations = [
  { kind: 'url' as const, url: 'https://x.example/', start: 0, end: 1 },
  { kind: 'page' as const, document: 0, start: 1, end: 2, cited_text: 'c', file_id: 'file_1', title: 'T' },
  { kind: 'char' as const, document: 0, start: 1, end: 2, cited_text: 'c' },
];
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(text, phase).map(([text, ext]) => ({ type: 'text' as const, text, ...ext })),
  text.map((text) => ({ type: 'text' as const, text, logprobs, citations })),
  fc.record({ type: fc.constant('refusal' as const), text }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text,
    kind: fc.constantFrom('full' as const, 'summary' as const),
    signature: fc.string(),
    format,
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.constant(''),
    kind: fc.constant('encrypted' as const),
    data: fc.string({ minLength: 1 }),
    id: fc.constantFrom('rs_a', 'rs_b'),
    format,
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text,
    kind: fc.constant('summary' as const),
    id: fc.constantFrom('rs_a', 'rs_b'),
    format,
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: fc.constantFrom('', 'c1', 'c2', 'c3'),
    name: fc.constantFrom('f', 'g'),
    arguments: fc.oneof(json, fc.constant('')),
    kind: fc.constantFrom('function' as const, 'custom' as const),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    id: fc.uuid(),
    name: fc.constant('signed'),
    arguments: json,
    kind: fc.constant('function' as const),
    signature: fc.string({ minLength: 1 }),
    format,
  }),
  fc.constant({ type: 'image' as const, src: { url: 'https://x.example/i.png' } }),
  fc.constant({
    type: 'server_tool' as const,
    family: 'openai_responses' as const,
    name: 'web_search_call',
    payload: { id: 'ws_1', type: 'web_search_call', status: 'completed' },
  }),
);
const reasons: StopReason[] = [
  ...(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'content_filter', 'refusal'] as const),
  ...(['pause', 'context_window', 'compaction', 'malformed', 'error'] as const),
];
const answer: fc.Arbitrary<CanonicalAnswer> = fc.record({
  candidates: fc
    .record({
      index: fc.constant(0),
      content: fc.array(part, { maxLength: 6 }),
      stop: fc.option(fc.record({ reason: fc.constantFrom(...reasons) })),
    })
    .map((candidate) => [candidate]),
  usage: fc.constant(null),
});

describe('any answer', () => {
  test('is a stream of the grammar whose last response is the whole answer', () => {
    fc.assert(
      fc.property(answer, fc.boolean(), (given, exclude) => {
        const change = exclude ? { reasoning: 'exclude' as const } : {};
        const written = stream(unfoldAnswer(given), change);
        // A server tool's own id may be used once only; two equal items are the provider's fault, not an order's.
        const twice = given.candidates[0]?.content.filter(({ type }) => type === 'server_tool').length ?? 0;
        if (twice < 2) expect(checkResponsesStream(written)).toEqual([]);
        const whole = JSON.parse(responses.write(given, { ...meta, ...change }, ended));
        expect(finalResponse(written)).toEqual(whole);
      }),
      { numRuns: 400 },
    );
  });

  const oneServerTool = answer.filter(
    ({ candidates }) => (candidates[0]?.content.filter(({ type }) => type === 'server_tool').length ?? 0) < 2,
  );

  test('cut anywhere and ended by us is still a stream of the grammar', () => {
    fc.assert(
      fc.property(oneServerTool, fc.nat(40), (given, cut) => {
        expect(checkResponsesStream(stream(unfoldAnswer(given).slice(0, cut)))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('with any of its events missing is still a stream of the grammar', () => {
    const some = oneServerTool.chain((given) => fc.subarray(unfoldAnswer(given)));
    fc.assert(
      fc.property(some, (events) => {
        expect(checkResponsesStream(stream(events))).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test('cut anywhere and failed ends in response.failed with the partial output, usage and our code', () => {
    fc.assert(
      fc.property(oneServerTool, fc.nat(40), (given, cut) => {
        const writer = responses.writer(meta);
        const head = unfoldAnswer(given)
          .slice(0, cut)
          .map((event) => writer.write(event))
          .join('');
        const fault = { code: 'upstream_overloaded' as const, message: 'Busy.', details: { a: 1 } };
        const written = head + writer.fail(fault, paid(counted));
        expect(checkResponsesStream(written)).toEqual([]);
        expect(finalResponse(written)).toMatchObject({
          status: 'failed',
          error: { code: 'server_error', message: 'Busy.' },
          usage: { input_tokens: 7, output_tokens: 5 },
          svc: {
            cost: { total_micro_usd: 1_234 },
            error: { code: 'upstream_overloaded', details: { a: 1 } },
          },
        });
        expect(writer.end(paid(counted)) + writer.keepAlive()).toBe('');
      }),
      { numRuns: 200 },
    );
  });

  test('deltas and their sums survive any text, halves of surrogate pairs included', () => {
    const to = { candidate: 0, part: 0 };
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (pieces) => {
        const written = stream([
          { type: 'part_start', ...to, content: { type: 'text', text: '' } },
          ...['\ud83d', '\ude00\u2028', ...pieces].map(
            (piece): CanonicalEvent => ({ type: 'part_delta', ...to, text: piece }),
          ),
        ]);
        expect(checkResponsesStream(written)).toEqual([]);
        expect(finalResponse(written).output[0].content[0].text).toBe(`\u{1f600}\u2028${pieces.join('')}`);
      }),
      { numRuns: 50 },
    );
  });
});
