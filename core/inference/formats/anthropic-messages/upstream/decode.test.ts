// The family's answers, whole and streamed, and how its faults are classed.
import { describe, expect, test } from 'vitest';
import { fixture, request, target } from '../../../../../test/grammar/messages-cases.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import type { CanonicalAnswer } from '../../../canonical/types.ts';
import { anthropicMessages } from './index.ts';

/** The answer with the arguments of its calls as values: the stream spells them with other blanks. */
function spaceless({ candidates, ...rest }: CanonicalAnswer): unknown {
  const [candidate] = candidates;
  const content = candidate?.content.map((part) =>
    part.type === 'tool_call' ? { ...part, arguments: JSON.parse(part.arguments) } : part,
  );
  return { ...rest, candidate: { ...candidate, content } };
}

describe('answers', () => {
  test('a whole answer and its stream decode to the same', () => {
    for (const name of ['text', 'tool', 'thinking', 'cache', 'refusal']) {
      const decoder = anthropicMessages.decoder(request(), target());
      const { answer, fault } = foldEvents([...decoder.push(fixture(`${name}.sse`)), ...decoder.end()]);
      const whole = anthropicMessages.decode(fixture(`${name}.message.json`), request(), target());
      expect(fault).toBeNull();
      expect(spaceless(answer)).toEqual(spaceless(whole));
    }
  });

  test('server-tool blocks come as one whole part with their input', () => {
    const { answer } = foldEvents(
      anthropicMessages.decoder(request(), target()).push(fixture('server-tool.sse')),
    );
    expect(answer.candidates[0]?.content[1]).toMatchObject({
      type: 'server_tool',
      name: 'web_search',
      payload: { type: 'server_tool_use', input: { query: 'weather NYC' } },
    });
    expect(answer.usage).toMatchObject({ input_tokens: 10_682, search_units: 1 });
  });

  test('every kind of citation is read', () => {
    const { answer } = foldEvents(
      anthropicMessages.decoder(request(), target()).push(fixture('citations.sse')),
    );
    const kinds = answer.candidates[0]?.content.flatMap((part) =>
      'citations' in part ? (part.citations as { kind: string }[]) : [],
    );
    expect(kinds?.map((citation) => citation.kind)).toEqual([
      'char',
      'page',
      'url',
      'search_result',
      'block',
    ]);
  });

  test('a compaction is counted, because it is billed beside the answer', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 2,
      iterations: [
        { type: 'message', input_tokens: 10, output_tokens: 2 },
        { type: 'compaction', input_tokens: 1_000, output_tokens: 300, cache_read_input_tokens: 5 },
      ],
    };
    const body = Buffer.from(JSON.stringify({ content: [], stop_reason: 'end_turn', usage }));
    expect(anthropicMessages.decode(body, request(), target()).usage).toMatchObject({
      input_tokens: 1_010,
      output_tokens: 302,
      cache_read_tokens: 5,
    });
  });

  test.each([
    [{ input_tokens: -1, output_tokens: 2 }],
    [{ input_tokens: 1.5, output_tokens: 2 }],
    [{ input_tokens: 1 }],
    [{ input_tokens: '1', output_tokens: 2 }],
    [null],
  ])('usage that no honest server sends counts as missing: %j', (usage) => {
    const body = Buffer.from(JSON.stringify({ content: [], stop_reason: 'end_turn', usage }));
    expect(anthropicMessages.decode(body, request(), target()).usage).toBeNull();
  });

  test('a split of cache writes never passes their total', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 60 },
    };
    const body = Buffer.from(JSON.stringify({ content: [], usage }));
    expect(anthropicMessages.decode(body, request(), target()).usage).toMatchObject({
      cache_write_tokens: 100,
      cache_write_5m_tokens: 40,
      cache_write_1h_tokens: 60,
    });
  });
});

describe('faults', () => {
  const error = (type: string, message = 'm'): Buffer =>
    Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }));

  test.each([
    [400, error('invalid_request_error'), 'client'],
    [
      400,
      error('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      'context_length',
    ],
    [
      400,
      error('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 3'),
      'context_length',
    ],
    [400, error('invalid_request_error', 'Output blocked by content filtering policy'), 'content_filter'],
    [400, error('invalid_request_error', 'Your credit balance is too low to access the API.'), 'quota'],
    [
      400,
      error('invalid_request_error', 'Your credit balance is too low: Extra inputs are not permitted'),
      'client',
    ],
    [401, error('authentication_error'), 'auth'],
    [402, error('billing_error'), 'quota'],
    [403, error('permission_error'), 'auth'],
    [404, error('not_found_error', 'model: x'), 'model_missing'],
    [408, error('api_error'), 'server'],
    [413, error('request_too_large'), 'too_large'],
    [422, error('invalid_request_error'), 'client'],
    [429, error('rate_limit_error'), 'rate_limit'],
    [500, error('api_error'), 'server'],
    [500, error('overloaded_error'), 'overloaded'],
    [502, Buffer.from('<html>bad gateway</html>'), 'server'],
    [503, Buffer.from(''), 'overloaded'],
    [529, error('overloaded_error'), 'overloaded'],
  ])('%i is classed by status, type and words (%#)', (status, body, kind) => {
    expect(anthropicMessages.classify(status, {}, body)).toMatchObject({ class: kind, status });
  });

  test('retry-after is read in seconds and milliseconds; page text is not reported', () => {
    expect(
      anthropicMessages.classify(429, { 'retry-after': '7' }, error('rate_limit_error')).retry_after_ms,
    ).toBe(7_000);
    expect(anthropicMessages.classify(429, { 'retry-after-ms': '12.5' }, error('x')).retry_after_ms).toBe(13);
    expect(anthropicMessages.classify(502, {}, Buffer.from('<html>')).message).toBe('');
  });
});
