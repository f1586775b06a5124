// The request and the whole answer of the raw lane: everything but our fields keeps its bytes.
import { describe, expect, test } from 'vitest';
import {
  fixture,
  fixtures,
  meta,
  paid,
  request,
  target,
} from '../../../../../test/grammar/messages-cases.ts';
import type { EncodeOptions, Target } from '../../../canonical/contract.ts';
import { wrapState } from '../../../canonical/reasoning.ts';
import type { CanonicalRequest } from '../../../canonical/types.ts';
import { messagesDialect, messagesRawLane } from '../caller/index.ts';
import { anthropicMessages } from '../upstream/index.ts';

const options: EncodeOptions = { stream: true, max_tokens: 1_024, user: null, cache_key: null, extra: {} };

function send(
  body: string,
  change: { options?: Partial<EncodeOptions>; target?: Target; headers?: Record<string, string> } = {},
): { text: string; headers: string[]; read: CanonicalRequest } {
  const read = messagesDialect.read(JSON.parse(body), change.headers ?? {});
  const sent = messagesRawLane.request(Buffer.from(body), read, change.target ?? target(), {
    ...options,
    max_tokens: read.generation.max_tokens ?? null,
    stream: read.stream,
    ...change.options,
  });
  return { text: sent.body.toString('utf8'), headers: sent.headers, read };
}

const tail =
  '"messages":[{"role":"user","content":"ünï \\u00e9 1.0"}],"temperature":1.0,"big":12345678901234567890';

describe('request', () => {
  test('only model and svc change; every other byte stays', () => {
    const body = `{ "model" : "anthropic/claude-opus", "max_tokens":64,\n "svc":{"app":"x"}, ${tail}, "stream":true}`;
    const { text } = send(body);
    expect(text).toBe(`{ "model" : "claude-opus-4-5-20251101", "max_tokens":64, ${tail}, "stream":true}`);
  });

  test('a lowered cap, the asked stream and the hashed user are written in place', () => {
    const body = `{"model":"a/b","max_tokens":64,${tail},"metadata":{"user_id":"u@x.example","k":1}}`;
    const { text } = send(body, { options: { max_tokens: 16, stream: true, user: 'abc123' } });
    expect(text).toBe(
      `{"model":"claude-opus-4-5-20251101","max_tokens":16,${tail},"metadata":{"user_id":"abc123","k":1},"stream":true}`,
    );
  });

  test.each([
    [`{"model":"a/b","max_tokens":64,"mod\\u0065l":"other",${tail}}`, 'model'],
    [`{"model":"a/b","max_tokens":64,${tail},"max_tokens":9}`, 'max_tokens'],
    [`{"model":"a/b","max_tokens":64,${tail},"unknown":1,"unknown":2}`, 'unknown'],
    [`{"model":"a/b","max_tokens":64,${tail},"metadata":{"user_id":"a","user_id":"b"}}`, 'metadata.user_id'],
  ])('a key that occurs twice is refused: %s', (body, param) => {
    expect(() => send(body, { options: { user: 'h' } })).toThrow(
      expect.objectContaining({ code: 'invalid_json', param }),
    );
  });

  test('version and listed betas are sent, others are left out as a hint', () => {
    const body = `{"model":"a/b","max_tokens":64,${tail}}`;
    const headers = {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-1m-2025-08-07, odd-2020-01-01',
    };
    const to = target({ betas: ['context-1m-2025-08-07'] });
    const sent = send(body, { headers, target: to });
    expect(sent.headers).toEqual([
      'anthropic-version',
      '2026-10-21',
      'anthropic-beta',
      'context-1m-2025-08-07',
    ]);
    expect(anthropicMessages.losses(sent.read, to)).toEqual([
      expect.objectContaining({ class: 'hint', code: 'beta_ignored' }),
    ]);
    expect(send(body).headers).toEqual(['anthropic-version', '2023-06-01']);
  });

  test('provider options are merged last', () => {
    const body = `{"model":"a/b","max_tokens":64,${tail}}`;
    expect(send(body, { options: { extra: { top_k: 3, temperature: 0.5 } } }).text).toContain(
      '"temperature":0.5,"big":12345678901234567890,"top_k":3}',
    );
  });

  test('reasoning of other families leaves the history, own reasoning keeps its bytes', () => {
    const foreign = wrapState({ f: 'google-gemini-v1', m: 'gem', s: 'sig' });
    const own = '{"type":"thinking","thinking":"a\\u0041","signature":"Eq=="}';
    const body =
      `{"model":"a/b","max_tokens":64,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":` +
      `[{"type":"thinking","thinking":"x","signature":"${foreign}"},${own},{"type":"text","text":"t"}]},` +
      `{"role":"assistant","content":[{"type":"redacted_thinking","data":"${foreign}"}]},` +
      `{"role":"user","content":[{"type":"text","text":"n\\u00e9"}]}]}`;
    const { text } = send(body);
    expect(text).not.toContain('svc1.');
    expect(text).toContain(
      `"content":[${own},{"type":"text","text":"t"}]},{"role":"user","content":[{"type":"text","text":"n\\u00e9"}]}]`,
    );
  });

  test('a server tool without a price, and fields of a beta that is not offered, do not go up', () => {
    const search = `{"model":"a/b","max_tokens":64,${tail},"tools":[{"type":"web_search_20250305","name":"web_search"}]}`;
    expect(() => send(search)).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'tools[0]' }),
    );
    expect(send(search, { target: target({ server_tools: ['web_search'] }) }).text).toContain(
      'web_search_20250305',
    );
    const servers = `{"model":"a/b","max_tokens":64,${tail},"mcp_servers":[]}`;
    expect(() => send(servers)).toThrow(expect.objectContaining({ param: 'mcp_servers' }));
    const betas = { target: target({ betas: ['mcp-client-2025-11-20'] }) };
    expect(
      send(servers, { ...betas, headers: { 'anthropic-beta': 'mcp-client-2025-11-20' } }).text,
    ).toContain('mcp_servers');
  });

  test('fast mode goes up only where it has a price', () => {
    const body = `{"model":"a/b","max_tokens":64,${tail},"speed":"fast"}`;
    expect(send(body).text).not.toContain('speed');
    expect(send(body, { target: target({ parameters: ['speed'] }) }).text).toContain('"speed":"fast"');
  });
});

describe.each(fixtures('.message.json'))('whole answer: %s', (name) => {
  const body = fixture(`${name}.message.json`);

  test('everything but id, model, svc and missing nulls keeps its bytes', () => {
    const whole = messagesRawLane.whole(body, request(), target());
    const usage = whole.usage ?? expect.fail('usage');
    const text = whole.finish(meta, paid(usage)).toString('utf8');
    const answer = JSON.parse(text);
    expect(answer).toMatchObject({
      id: meta.request_id,
      model: meta.model,
      svc: { cost: { total_micro_usd: 1_234 } },
    });
    const content = /"content":(\[.*\]),"stop_reason"/s.exec(body.toString('utf8'))?.[1] as string;
    expect(text).toContain(content);
    for (const key of ['stop_details', 'container', 'diagnostics']) expect(answer).toHaveProperty(key);
  });

  test('both lanes read the same usage and stop, and write the same answer', () => {
    const whole = messagesRawLane.whole(body, request(), target());
    const decoded = anthropicMessages.decode(body, request(), target());
    expect(decoded.usage).toEqual(whole.usage);
    expect(decoded.candidates[0]?.stop).toEqual(whole.stop);
    const end = paid(whole.usage ?? expect.fail('usage'));
    const raw = JSON.parse(whole.finish(meta, end).toString('utf8'));
    const written = JSON.parse(messagesDialect.write(decoded, meta, end));
    for (const block of written.content) {
      if (block.type === 'text') delete block.citations;
      delete block.caller;
    }
    expect(written).toEqual(raw);
  });

  test('the output bytes are those of the stream of the same answer', () => {
    const whole = messagesRawLane.whole(body, request(), target());
    const relay = messagesRawLane.relay(meta, request(), target());
    relay.push(fixture(`${name}.sse`));
    // The stream's arguments have a blank after each colon and comma.
    const blanks = name === 'tool' ? 3 : 0;
    expect(relay.state.output_bytes - blanks).toBe(whole.output_bytes);
  });
});

test('digits of arguments beyond 2^53 survive a whole answer in both lanes', () => {
  const body = fixture('tool.message.json');
  const end = paid(messagesRawLane.whole(body, request(), target()).usage ?? expect.fail('usage'));
  const raw = messagesRawLane.whole(body, request(), target()).finish(meta, end).toString('utf8');
  expect(raw).toContain('12345678901234567890');
  expect(messagesDialect.write(anthropicMessages.decode(body, request(), target()), meta, end)).toContain(
    '12345678901234567890',
  );
});

test.each(['{}', '[]', 'not json', '{"content":[],"content":[]}', '{"type":"error"}'])(
  'an answer that is no message is a fault of the protocol: %s',
  (body) => {
    expect(() => messagesRawLane.whole(Buffer.from(body), request(), target())).toThrow('not a message');
  },
);
