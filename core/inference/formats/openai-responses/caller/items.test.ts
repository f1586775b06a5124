// What each part of an answer becomes: items, reasoning with its state, outcome, usage.
import { describe, expect, test } from 'vitest';
import { counted, paid } from '../../../../../test/grammar/messages-cases.ts';
import { checkResponsesStream } from '../../../../../test/grammar/responses.ts';
import { eventsOf, finalResponse, meta } from '../../../../../test/grammar/responses-cases.ts';
import type { ErrorCode } from '../../../../kernel/index.ts';
import { unfoldAnswer } from '../../../canonical/assemble.ts';
import { unwrapState } from '../../../canonical/reasoning.ts';
import type { CanonicalEvent, Part, StopReason } from '../../../canonical/types.ts';
import { responses } from './index.ts';

const ended = { ...paid(counted), timing: { ttft_ms: 1, duration_ms: 1_600, upstream_ttft_ms: 1 } };

function stream(events: readonly CanonicalEvent[], change: Partial<typeof meta> = {}): string {
  const writer = responses.writer({ ...meta, ...change });
  return events.map((event) => writer.write(event)).join('') + writer.end(ended);
}

const say = (content: Part[], reason: StopReason = 'end_turn'): CanonicalEvent[] =>
  unfoldAnswer({
    candidates: [{ index: 0, content, stop: { reason } }],
    usage: null,
    upstream_model: 'up-1',
    service_tier: 'flex',
  });
const typesOf = (written: string) => eventsOf(written).map(({ type }) => type.replace(/^response\./, ''));

test('the events of a turn come in the order and with the members that clients read', () => {
  const written = stream(
    say(
      [
        { type: 'reasoning', text: 'why', kind: 'full', signature: 'sig', format: 'anthropic-claude-v1' },
        { type: 'text', text: 'Hi', citations: [{ kind: 'url', url: 'https://x.example/', title: 'X' }] },
        { type: 'tool_call', id: 'c1', name: 'f', arguments: '{"a":1}', kind: 'function' },
        { type: 'tool_call', id: 'c2', name: 'g', arguments: 'free', kind: 'custom' },
      ],
      'tool_use',
    ),
  );
  expect(typesOf(written)).toEqual([
    ...['created', 'in_progress', 'output_item.added', 'reasoning_summary_part.added'],
    ...['reasoning_summary_text.delta', 'reasoning_summary_text.done', 'reasoning_summary_part.done'],
    ...['output_item.done', 'output_item.added', 'content_part.added', 'output_text.delta'],
    ...['output_text.annotation.added', 'output_text.done', 'content_part.done', 'output_item.done'],
    ...[
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ],
    ...[
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
    ],
    'completed',
  ]);
  const id = meta.request_id;
  expect(eventsOf(written)[10]).toEqual({
    ...{ type: 'response.output_text.delta', sequence_number: 10, item_id: `msg_${id}_1`, output_index: 1 },
    ...{ content_index: 0, delta: 'Hi', logprobs: [] },
  });
  expect(eventsOf(written)[9]?.part).toEqual({
    type: 'output_text',
    text: '',
    annotations: [],
    logprobs: [],
  });
  const { svc, completed_at, ...response } = finalResponse(written);
  expect(completed_at).toBe(meta.created + 2);
  expect(svc).toMatchObject({ request_id: id, cost: { total_micro_usd: 1_234 }, warnings: [] });
  const { encrypted_content: sealed, ...thought } = response.output[0];
  expect(unwrapState(sealed)).toEqual({ f: 'anthropic-claude-v1', m: 'up-1', s: 'sig' });
  expect({ ...response, output: [thought, ...response.output.slice(1)] }).toEqual({
    ...{
      id,
      object: 'response',
      created_at: meta.created,
      status: 'completed',
      background: false,
      error: null,
    },
    ...{ incomplete_details: null, instructions: 'Be brief.', max_output_tokens: null, max_tool_calls: null },
    ...{ metadata: {}, model: 'acme/fast-1', parallel_tool_calls: true, previous_response_id: null },
    ...{ prompt_cache_key: null, reasoning: { effort: null, summary: null }, safety_identifier: null },
    ...{ service_tier: 'flex', store: false, temperature: 0.5, text: { format: { type: 'text' } } },
    ...{ tool_choice: 'auto', tools: [], top_logprobs: 0, top_p: null, truncation: 'disabled', user: null },
    usage: {
      ...{ input_tokens: 7, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } },
      ...{ output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 12 },
    },
    output: [
      { id: `rs_${id}_0`, type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
      {
        ...{ id: `msg_${id}_1`, type: 'message', status: 'completed', role: 'assistant' },
        content: [
          {
            ...{ type: 'output_text', text: 'Hi', logprobs: [] },
            annotations: [
              { type: 'url_citation', start_index: 0, end_index: 2, url: 'https://x.example/', title: 'X' },
            ],
          },
        ],
      },
      {
        ...{ id: `fc_${id}_2`, type: 'function_call', status: 'completed', call_id: 'c1', name: 'f' },
        arguments: '{"a":1}',
      },
      {
        ...{ id: `ctc_${id}_3`, type: 'custom_tool_call', status: 'completed', call_id: 'c2', name: 'g' },
        input: 'free',
      },
    ],
  });
});

test('the first events tell the response in progress, without usage or cost', () => {
  const [created, progress] = eventsOf(stream([]));
  expect(created).toMatchObject({
    response: { status: 'in_progress', output: [], usage: null, completed_at: null, svc: { cost: null } },
  });
  expect({ ...progress, type: '', sequence_number: 0 }).toEqual({ ...created, type: '', sequence_number: 0 });
});

describe('reasoning', () => {
  const outputOf = (content: Part[], change: Partial<typeof meta> = {}) =>
    finalResponse(stream(say(content), change)).output;
  const signed: Part = {
    ...{ type: 'reasoning', text: 'why', kind: 'full', signature: 's', format: 'google-gemini-v1' },
  };

  test('of its own format keeps id and state as they are, state in parts of its own included', () => {
    const own = { type: 'reasoning' as const, id: 'rs_up', format: 'openai-responses-v1' as const };
    expect(
      outputOf([
        { ...own, text: 'why', kind: 'summary' },
        { ...own, text: '', kind: 'encrypted', data: 'gAAA' },
      ]),
    ).toEqual([
      {
        ...{ id: 'rs_up', type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
        encrypted_content: 'gAAA',
      },
    ]);
  });

  test('raw text of a model with open weights is a summary, which every client shows', () => {
    expect(outputOf([{ type: 'reasoning', text: 'hm', kind: 'full', format: 'unknown' }])).toEqual([
      {
        ...{ id: `rs_${meta.request_id}_0`, type: 'reasoning' },
        summary: [{ type: 'summary_text', text: 'hm' }],
      },
    ]);
  });

  test('state is shown only when it was asked for', () => {
    expect(outputOf([signed])[0]).toHaveProperty('encrypted_content');
    const echo = { members: meta.echo?.members ?? '', encrypted_reasoning: false };
    expect(outputOf([signed], { echo })[0]).not.toHaveProperty('encrypted_content');
  });

  test('is left out when the caller excludes it', () => {
    expect(outputOf([signed, { type: 'text', text: 'x' }], { reasoning: 'exclude' })).toHaveLength(1);
  });

  test('the signature of a call stands in an item before it, or behind it when it came late', () => {
    const call: Part = { type: 'tool_call', id: 'c1', name: 'f', arguments: '{}', kind: 'function' };
    const early = outputOf([{ ...call, signature: 'gs', format: 'google-gemini-v1' }]);
    expect(early.map(({ type }: { type: string }) => type)).toEqual(['reasoning', 'function_call']);
    expect(unwrapState(early[0].encrypted_content)).toEqual({
      f: 'google-gemini-v1',
      m: 'up-1',
      s: 'gs',
      t: 'c1',
    });
    const to = { candidate: 0, part: 0 };
    const late = stream([
      { type: 'part_start', ...to, content: { ...call, arguments: '', format: 'google-gemini-v1' } },
      { type: 'part_delta', ...to, arguments: '{}', signature: 'gs' },
      { type: 'part_stop', ...to },
    ]);
    expect(checkResponsesStream(late)).toEqual([]);
    expect(unwrapState(finalResponse(late).output[1].encrypted_content)).toMatchObject({ s: 'gs', t: 'c1' });
  });
});

test('a call without arguments is called with an empty object; a cut one is as far as it came', () => {
  const content: Part[] = [{ type: 'tool_call', id: 'c', name: 'f', arguments: '', kind: 'function' }];
  expect(finalResponse(stream(say(content, 'tool_use'))).output[0]).toMatchObject({ arguments: '{}' });
  const cut: Part[] = [{ type: 'tool_call', id: 'c', name: 'f', arguments: '{"a"', kind: 'function' }];
  expect(finalResponse(stream(say(cut, 'max_tokens')))).toMatchObject({
    status: 'incomplete',
    output: [{ arguments: '{"a"', status: 'incomplete' }],
  });
});

test('calls that share an id, or have none, get ids of their own', () => {
  const call = { type: 'tool_call' as const, name: 'f', arguments: '{}', kind: 'function' as const };
  const { output } = finalResponse(
    stream(
      say([
        { ...call, id: 'c' },
        { ...call, id: 'c' },
        { ...call, id: '' },
      ]),
    ),
  );
  expect(output.map((item: { call_id: string }) => item.call_id)).toEqual([
    'c',
    `call_${meta.request_id}_1`,
    `call_${meta.request_id}_2`,
  ]);
});

test('texts that follow each other are contents of one message, phases are messages of their own', () => {
  const phased = (word: string) => ({ type: 'text' as const, text: word, ext: { phase: word } });
  const { output } = finalResponse(
    stream(
      say([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
        phased('commentary'),
        phased('final_answer'),
      ]),
    ),
  );
  expect(output.map(({ content }: { content: unknown[] }) => content.length)).toEqual([2, 1, 1]);
  expect(output.map(({ phase }: { phase?: string }) => phase)).toEqual([
    undefined,
    'commentary',
    'final_answer',
  ]);
});

test('what cannot be shown is reported in the warnings', () => {
  const cited: Part = {
    ...{ type: 'text', text: 'x' },
    citations: [{ kind: 'char', document: 0, start: 0, end: 1, cited_text: 'x' }],
  };
  const { svc } = finalResponse(
    stream(say([{ type: 'image', src: { url: 'https://x.example/i.png' } }, cited], 'malformed')),
  );
  expect(svc.warnings.map(({ code }: { code: string }) => code).sort()).toEqual([
    ...['citation_dropped', 'content_dropped', 'malformed_output'],
  ]);
});

test.each<[StopReason, string, string | null]>([
  ['end_turn', 'completed', null],
  ['max_tokens', 'incomplete', 'max_output_tokens'],
  ['context_window', 'incomplete', 'max_output_tokens'],
  ['stop_sequence', 'completed', null],
  ['tool_use', 'completed', null],
  ['content_filter', 'incomplete', 'content_filter'],
  ['refusal', 'completed', null],
  ['pause', 'completed', null],
  ['compaction', 'completed', null],
  ['malformed', 'completed', null],
  ['error', 'failed', null],
])('stop reason %s is told as %s', (reason, status, why) => {
  const response = finalResponse(stream([{ type: 'stop', candidate: 0, stop: { reason } }]));
  expect([response.status, response.incomplete_details?.reason ?? null]).toEqual([status, why]);
  const codes = response.svc.warnings.map(({ code }: { code: string }) => code);
  const paused = reason === 'pause' || reason === 'compaction';
  if (paused) expect(codes).toEqual(['turn_paused']);
  else expect(codes).toEqual(reason === 'malformed' ? ['malformed_output'] : []);
});

test('a limit that cut the answer overrides the provider’s stop, and what was open is incomplete', () => {
  const writer = responses.writer(meta);
  const to = { candidate: 0, part: 0 };
  const head =
    writer.write({ type: 'part_start', ...to, content: { type: 'text', text: '' } }) +
    writer.write({ type: 'part_delta', ...to, text: 'so far' });
  const written = head + writer.end({ ...paid(counted), stop: { reason: 'max_tokens' } });
  expect(checkResponsesStream(written)).toEqual([]);
  expect(finalResponse(written)).toMatchObject({
    status: 'incomplete',
    output: [{ status: 'incomplete', content: [{ text: 'so far' }] }],
  });
});

test.each<[ErrorCode, string]>([
  ['upstream_rate_limited', 'rate_limit_exceeded'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['content_filtered', 'invalid_prompt'],
  ['context_length_exceeded', 'invalid_prompt'],
  ['upstream_incomplete', 'server_error'],
  ['upstream_timeout', 'server_error'],
  ['internal', 'server_error'],
])('fault %s is told as %s', (code, word) => {
  const written = responses.writer(meta).fail({ code, message: 'm' }, paid(counted));
  expect(finalResponse(written)).toMatchObject({ error: { code: word }, svc: { error: { code } } });
});

test('usage buckets add up to the input of this dialect', () => {
  const usage = { ...counted, cache_read_tokens: 3, cache_write_tokens: 2, reasoning_tokens: 4 };
  expect(JSON.parse(responses.write({ candidates: [], usage: null }, meta, paid(usage))).usage).toEqual({
    ...{ input_tokens: 12, input_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 } },
    ...{ output_tokens: 5, output_tokens_details: { reasoning_tokens: 4 }, total_tokens: 17 },
  });
});

test('other candidates are not shown', () => {
  const to = { candidate: 1, part: 0 };
  const written = stream([
    { type: 'part_start', ...to, content: { type: 'text', text: 'no' } },
    { type: 'part_delta', ...to, text: 'no' },
    { type: 'part_stop', ...to },
    { type: 'stop', candidate: 1, stop: { reason: 'max_tokens' } },
  ]);
  expect(finalResponse(written)).toMatchObject({ status: 'completed', output: [] });
});
