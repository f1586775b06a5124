// The completions wire: that a stream and a whole answer say the same text, cut or failed anywhere.
import { checkCompletionsStream } from '@svc/test/grammar/completions.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble, unfoldAnswer } from '../../../canonical/assemble.ts';
import type { CanonicalEvent, Part, ReplyEnd, ReplyMeta, Stop, Warning } from '../../../canonical/types.ts';
import { completions } from './index.ts';

const metaOf = (include_usage: boolean): ReplyMeta => ({
  request_id: '01JD0000000000000000000000',
  base_url: 'https://llm.example',
  model: 'acme/fast-1',
  created: 1_763_740_000,
  provider: 'acme',
  endpoint_id: 'ep_1',
  include_usage,
  reasoning: 'include',
  legacy_functions: false,
  input_estimate: 10,
});
const end: ReplyEnd = {
  usage: {
    ...{ input_tokens: 19, output_tokens: 10, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ reasoning_tokens: 0, source: 'provider' },
  },
  cost: { total_micro_usd: 123, lines: [], price_version: 'pv_1' },
  warnings: [],
};

const text = fc.string({ unit: 'binary', maxLength: 6 });
const parts: fc.Arbitrary<Part> = fc.oneof(
  text.map((said): Part => ({ type: 'text', text: said })),
  text.map(
    (said): Part => ({ type: 'text', text: said, citations: [{ kind: 'url', url: 'https://a.example' }] }),
  ),
  text.map((said): Part => ({ type: 'refusal', text: said })),
  text.map((said): Part => ({ type: 'reasoning', text: said, kind: 'full', format: 'unknown' })),
  text.map((said): Part => ({ type: 'tool_call', id: 'c', name: 'f', arguments: said, kind: 'function' })),
);
const stops = fc.constantFrom<(Stop | null)[]>(
  null,
  ...(['end_turn', 'max_tokens', 'content_filter', 'tool_use', 'pause', 'malformed'] as const).map(
    (reason) => ({
      reason,
    }),
  ),
);
const answers = fc
  .array(fc.record({ content: fc.array(parts, { maxLength: 4 }), stop: stops }), { maxLength: 3 })
  .map((candidates) => ({
    candidates: candidates.map((candidate, index) => ({ index, ...candidate })),
    usage: end.usage,
  }));

interface Said {
  readonly choices: [number, string, string][];
  readonly warnings: string[];
}

function readStream(bytes: string): Said {
  const choices: [number, string, string][] = [];
  let warnings: string[] = [];
  for (const frame of bytes.split('\n\n')) {
    if (!frame.startsWith('data: {')) continue;
    const chunk = JSON.parse(frame.slice(6));
    for (const { index, text: piece, finish_reason } of chunk.choices) {
      choices[index] ??= [index, '', ''];
      const choice = choices[index] as [number, string, string];
      choice[1] += piece;
      choice[2] = finish_reason ?? choice[2];
    }
    if (chunk.svc) warnings = chunk.svc.warnings.map(({ code }: Warning) => code);
  }
  return { choices: choices.filter((choice) => choice !== undefined), warnings };
}

function readWhole(json: string): Said {
  const { choices, svc } = JSON.parse(json);
  return {
    choices: choices.map((choice: { index: number; text: string; finish_reason: string }) => [
      ...[choice.index, choice.text, choice.finish_reason],
    ]),
    warnings: svc.warnings.map(({ code }: Warning) => code),
  };
}

describe('a stream of text completions', () => {
  it.each([true, false])('says what the whole answer says (usage asked for: %s)', (include_usage) => {
    const meta = metaOf(include_usage);
    fc.assert(
      fc.property(answers, (answer) => {
        const writer = completions.writer(meta);
        const events = unfoldAnswer(answer);
        const bytes = events.map((event) => writer.write(event)).join('') + writer.end(end);
        expect(checkCompletionsStream(bytes, { include_usage })).toEqual([]);
        expect(readStream(bytes)).toEqual(readWhole(completions.write(assemble(events), meta, end)));
      }),
      { numRuns: 200 },
    );
  });

  it('follows the grammar wherever it is cut off or fails', () => {
    fc.assert(
      fc.property(answers, fc.nat(20), fc.boolean(), (answer, at, fails) => {
        const writer = completions.writer(metaOf(false));
        const events: CanonicalEvent[] = unfoldAnswer(answer).slice(0, at);
        let bytes = events.map((event) => writer.write(event)).join('');
        bytes += fails
          ? writer.fail({ code: 'upstream_incomplete', message: 'cut' }, end)
          : writer.end({ ...end, stop: { reason: 'max_tokens' } });
        expect(checkCompletionsStream(bytes, { include_usage: false })).toEqual([]);
      }),
    );
  });

  it('tells what it cannot show, once each', () => {
    const content: Part[] = [
      { type: 'reasoning', text: 'a', kind: 'full', format: 'unknown' },
      { type: 'reasoning', text: 'b', kind: 'full', format: 'unknown' },
      { type: 'text', text: 'c', citations: [{ kind: 'url', url: 'https://a.example' }] },
      { type: 'tool_call', id: 'c', name: 'f', arguments: '{}', kind: 'function' },
    ];
    const answer = { candidates: [{ index: 0, content, stop: null }], usage: null };
    const said = readWhole(completions.write(answer, metaOf(false), end));
    expect(said).toEqual({
      choices: [[0, 'c', 'stop']],
      warnings: ['reasoning_dropped', 'citation_dropped', 'content_dropped'],
    });
  });
});
