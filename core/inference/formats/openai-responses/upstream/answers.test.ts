import { responsesRequest, responsesTarget } from '@svc/test/grammar/openai-responses-fixtures.ts';
import { describe, expect, it } from 'vitest';
import { StreamErrorFault } from '../../../canonical/contract.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { stopOf } from '../words/stop.ts';
import { readUsage } from '../words/usage.ts';
import { classifyAnswer, responseFault } from './classify.ts';
import { openaiResponses } from './index.ts';

describe('faults of the Responses API', () => {
  const of = (status: number, body: object | string) =>
    classifyAnswer(status, {}, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

  it.each<[string, number, object | string]>([
    ['context_length', 400, { error: { message: 'x', code: 'context_length_exceeded' } }],
    ['client', 400, { error: { message: 'x', param: 'input', code: 'invalid_encrypted_content' } }],
    ['client', 404, { error: { message: "Item with id 'rs_1' not found.", param: 'input' } }],
    ['model_missing', 400, { error: { message: 'x', code: 'model_not_found' } }],
    ['rate_limit', 429, { error: { message: 'x', code: 'rate_limit_exceeded' } }],
    ['quota', 429, { error: { message: 'x', code: 'insufficient_quota' } }],
    ['server', 500, '<html>'],
    ['stream', 200, { status: 'failed', error: { code: 'server_error', message: 'x' } }],
    ['stream', 200, { status: 'cancelled', output: [] }],
    ['protocol', 200, { status: 'completed', output: [] }],
  ])('are %s for %i %j', (kind, status, body) => {
    expect(of(status, body).class).toBe(kind);
  });

  it.each<[string, string]>([
    ['server', 'server_error'],
    ['rate_limit', 'rate_limit_exceeded'],
    ['content_filter', 'invalid_prompt'],
    ['content_filter', 'image_content_policy_violation'],
    ['content_filter', 'bio_policy'],
    ['client', 'invalid_image_url'],
    ['quota', 'insufficient_quota'],
    ['server', 'vector_store_timeout'],
  ])('inside a stream mean %s for code %s', (inner, code) => {
    expect(responseFault({ error: { code, message: 'm' } })).toMatchObject({ class: 'stream', inner });
    expect(responseFault({ type: 'error', code, message: 'm', param: null })).toMatchObject({
      inner,
      message: 'm',
    });
  });
});

describe('ends, counts and whole answers', () => {
  it('tells every end', () => {
    const seen = { refusal: false, calls: false };
    const stop = (status: string, reason?: string) =>
      stopOf({ status, incomplete_details: reason === undefined ? null : { reason } }, seen)?.reason;
    expect(stop('completed')).toBe('end_turn');
    expect(stopOf({ status: 'completed' }, { refusal: true, calls: true })?.reason).toBe('tool_use');
    expect(stopOf({ status: 'completed' }, { refusal: true, calls: false })?.reason).toBe('refusal');
    expect(stop('incomplete', 'max_output_tokens')).toBe('max_tokens');
    expect(stop('incomplete')).toBe('max_tokens');
    expect(stop('incomplete', 'content_filter')).toBe('content_filter');
    expect(stop('incomplete', 'max_messages')).toBe('pause');
    expect(stop('queued')).toBeUndefined();
  });

  it('counts disjoint on the input side, clamped to the totals', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 8 },
    };
    expect(readUsage(usage, [], 0)).toMatchObject({
      input_tokens: 60,
      cache_read_tokens: 30,
      cache_write_tokens: 10,
      cache_write_30m_tokens: 10,
      output_tokens: 20,
      reasoning_tokens: 8,
    });
    expect(readUsage({ ...usage, input_tokens: 20 }, [], 0)).toMatchObject({
      input_tokens: 0,
      inconsistent: true,
    });
    expect(readUsage({ ...usage, output_tokens: -1 }, [], 0)).toBeNull();
    expect(readUsage(null, [], 0)).toBeNull();
  });

  it('reads a whole response, and refuses what is none', () => {
    const decode = (value: object | string) =>
      openaiResponses.decode(
        Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
        responsesRequest(),
        responsesTarget(),
      );
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] };
    expect(decode({ id: 'r', status: 'completed', output: [message] })).toMatchObject({
      upstream_id: 'r',
      usage: null,
      candidates: [{ content: [{ type: 'text', text: 'Hi' }], stop: { reason: 'end_turn' } }],
    });
    expect(() => decode({ status: 'failed', error: { code: 'server_error' }, output: [] })).toThrow(
      StreamErrorFault,
    );
    for (const value of ['oops', '[]', '{"choices":[]}', '{"status":"queued","output":[]}']) {
      expect(() => decode(value)).toThrow(ProtocolFault);
    }
  });
});
