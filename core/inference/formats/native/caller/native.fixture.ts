// Answers of every kind as events, and how the native dialect writes them, for its tests.
import fc from 'fast-check';
import { assemble } from '../../../canonical/assemble.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import type { CanonicalEvent, Logprob, Part, ReplyEnd, ReplyMeta, Stop } from '../../../canonical/types.ts';
import { builtIn } from '../../index.ts';

export const native = builtIn.dialects.get('/v1/svc/generate') as Dialect;

export const meta: ReplyMeta = {
  request_id: '01JD0000000000000000000000',
  base_url: 'https://llm.example',
  model: 'acme/fast-1',
  created: 1_763_740_000,
  provider: 'acme',
  endpoint_id: 'ep_1',
  include_usage: true,
  reasoning: 'include',
  legacy_functions: false,
  input_estimate: 10,
  upstream_model: 'fast-1-upstream',
  region: 'eu-west',
  attempt: 2,
};
const usage = {
  input_tokens: 19,
  output_tokens: 10,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  source: 'provider' as const,
};
export const end: ReplyEnd = {
  usage,
  cost: { total_micro_usd: 123, lines: [], price_version: 'prc_1' },
  warnings: [{ code: 'sampling_dropped', param: 'top_k', message: 'Not taken.' }],
  timing: { ttft_ms: 5, duration_ms: 9, upstream_ttft_ms: 4 },
};

type Delta = Omit<Extract<CanonicalEvent, { type: 'part_delta' }>, 'type' | 'candidate' | 'part'>;

export const text = fc.string({ unit: 'binary', maxLength: 6 });
const citation = fc.constant({ kind: 'url' as const, url: 'https://a.example', cited_text: '"é\n' });
const logprobs = fc
  .constant(null)
  .map((): Logprob[] => [{ token: 'a', logprob: -0.5, bytes: [97], top: [] }]);
const source = () => ({ base64: 'AAAA', media_type: 'image/png' });

const parts: fc.Arbitrary<{ content: Part; deltas: Delta[] }> = fc.oneof(
  fc.record({
    content: text.map((said): Part => ({ type: 'text', text: said, ext: { kept: true } })),
    deltas: fc.array(
      fc.oneof(
        fc.record({ text }),
        fc.record({ citation }),
        fc.record({ logprobs }),
        fc.record({ text, logprobs }),
        // What does not belong to a text adds nothing.
        fc.record({ arguments: text, signature: text, data: text }),
      ),
      { maxLength: 5 },
    ),
  }),
  fc.record({
    content: text.map((said): Part => ({ type: 'refusal', text: said })),
    deltas: fc.array(fc.record({ text })),
  }),
  fc.record({
    content: fc.record({ said: text, signed: fc.option(text) }).map(
      ({ said, signed }): Part => ({
        type: 'reasoning',
        text: said,
        kind: 'full',
        format: 'unknown',
        ...(signed === null ? {} : { signature: signed }),
      }),
    ),
    deltas: fc.array(
      fc.oneof(fc.record({ text }), fc.record({ signature: text }), fc.record({ data: text })),
    ),
  }),
  fc.record({
    content: text.map(
      (said): Part => ({
        type: 'reasoning',
        text: '',
        kind: 'encrypted',
        data: said,
        format: 'openai-responses-v1',
      }),
    ),
    deltas: fc.constant<Delta[]>([]),
  }),
  fc.record({
    content: fc
      .record({ id: fc.constantFrom('', 'call_1'), said: text })
      .map(
        ({ id, said }): Part => ({ type: 'tool_call', id, name: 'look', arguments: said, kind: 'function' }),
      ),
    deltas: fc.array(fc.oneof(fc.record({ arguments: text }), fc.record({ signature: text }))),
  }),
  fc.record({
    content: fc.constant(null).map((): Part => ({ type: 'image', src: source() })),
    deltas: fc.array(fc.record({ data: fc.constantFrom('BBBB', '') })),
  }),
  fc.record({
    content: fc.constant(null).map((): Part => ({ type: 'audio', src: source() })),
    deltas: fc.array(fc.oneof(fc.record({ text }), fc.record({ data: fc.constant('BBBB') }))),
  }),
  fc.record({
    content: fc.constant<Part>({
      type: 'server_tool',
      family: 'anthropic_messages',
      name: 'x_tool_result',
      payload: { type: 'x_tool_result' },
    }),
    deltas: fc.constant<Delta[]>([]),
  }),
);

const stops: fc.Arbitrary<Stop | null> = fc.constantFrom<(Stop | null)[]>(
  null,
  { reason: 'end_turn', raw: 'stop' },
  { reason: 'stop_sequence', sequence: '\n' },
  { reason: 'refusal', detail: { category: 'x' } },
);

/** Events of an answer of up to three candidates, whose parts take turns. */
export const streams: fc.Arbitrary<CanonicalEvent[]> = fc
  .record({
    candidates: fc.array(fc.record({ parts: fc.array(parts, { maxLength: 4 }), stop: stops }), {
      maxLength: 3,
    }),
    turns: fc.array(fc.nat(2), { maxLength: 40 }),
  })
  .map(({ candidates, turns }) => {
    const queues = candidates.map(({ parts: all, stop }, candidate) => {
      const events = all.flatMap(({ content, deltas }, part): CanonicalEvent[] => [
        { type: 'part_start', candidate, part, content: structuredClone(content) },
        ...deltas.map((delta): CanonicalEvent => ({ type: 'part_delta', candidate, part, ...delta })),
        { type: 'part_stop', candidate, part },
      ]);
      return stop === null ? events : [...events, { type: 'stop', candidate, stop } as CanonicalEvent];
    });
    const events: CanonicalEvent[] = [{ type: 'start', upstream_model: 'told' }];
    for (const turn of turns) events.push(...(queues[turn]?.splice(0, 1) ?? []));
    for (const queue of queues) events.push(...queue);
    return [...events, { type: 'usage', usage }, { type: 'finish' }];
  });

/** The stream of `events` as text. */
export function written(events: readonly CanonicalEvent[], change: Partial<ReplyMeta> = {}): string {
  const writer = native.writer({ ...meta, ...change });
  return events.map((event) => writer.write(event)).join('') + writer.end(end);
}

/** The whole answer of `events`. */
export const whole = (events: readonly CanonicalEvent[], change: Partial<ReplyMeta> = {}) =>
  JSON.parse(native.write(assemble(events), { ...meta, ...change }, end));
