// Both lanes over every fixture: the raw one copies, the canonical one decodes and writes; a client sees the
// same.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessagesStream } from '../../../../../test/grammar/messages.ts';
import {
  counted,
  cutUp,
  finalMessage,
  fixture,
  fixtures,
  meta,
  paid,
  request,
  runRelay,
  target,
} from '../../../../../test/grammar/messages-cases.ts';
import type { Relay } from '../../../canonical/contract.ts';
import { canonicalRelay } from '../../../canonical/relay.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { messagesDialect, messagesRawLane } from '../caller/index.ts';
import { anthropicMessages } from '../upstream/index.ts';

const cases = fixtures('.sse');
const rawRelay = (): Relay => messagesRawLane.relay(meta, request(), target());
const canonical = (): Relay =>
  canonicalRelay(anthropicMessages.decoder(request(), target()), messagesDialect.writer(meta));

/**
 * What both lanes must agree on: unknown events and nullable keys of block starts are the raw lane's alone.
 */
function comparable(stream: string): unknown {
  const { message, error } = finalMessage(stream);
  const content = message?.['content'] as Record<string, unknown>[] | undefined;
  return {
    error,
    message: message && {
      ...message,
      usage: known(message['usage'] as Record<string, unknown>, error !== null),
      content: content?.map((block) => ({
        ...block,
        // A call without arguments is `{}` either way.
        ...(block['type'] === 'tool_use'
          ? { input: JSON.stringify(block['input']) === '{}' ? '{}' : block['input'], caller: null }
          : {}),
        ...(block['type'] === 'server_tool_use' ? { input: parsed(block['input']) } : {}),
        ...(block['type'] === 'text' ? { citations: cited(block['citations']) } : {}),
      })),
      context_management: null,
    },
  };
}

function cited(value: unknown): unknown {
  return Array.isArray(value) && value.length > 0 ? value : null;
}
function parsed(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value;
}
// Before the settled usage the output count is a placeholder of whoever wrote it.
function known({ future: _future, ...usage }: Record<string, unknown>, unsettled: boolean): unknown {
  const server = usage['server_tool_use'] as Record<string, unknown> | null;
  return {
    ...usage,
    ...(unsettled ? { output_tokens: 0 } : {}),
    cache_creation: usage['cache_creation'] ?? { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
    server_tool_use: server && { web_search_requests: server['web_search_requests'] },
  };
}

describe.each(cases)('%s', (name) => {
  const bytes = fixture(`${name}.sse`);

  test('both lanes write streams of the grammar', () => {
    expect(checkMessagesStream(runRelay(rawRelay(), [Buffer.from(bytes)]), 'raw')).toEqual([]);
    expect(checkMessagesStream(runRelay(canonical(), [Buffer.from(bytes)]))).toEqual([]);
  });

  test('a client sees the same final message from both lanes', () => {
    const raw = comparable(runRelay(rawRelay(), [Buffer.from(bytes)]));
    expect(raw).toEqual(comparable(runRelay(canonical(), [Buffer.from(bytes)])));
  });

  test('both lanes report the same state', () => {
    const raw = rawRelay();
    const other = canonical();
    runRelay(raw, [Buffer.from(bytes)]);
    runRelay(other, [Buffer.from(bytes)]);
    // The input of a server tool is produced too; the canonical form keeps that block whole and does not
    // count it.
    const { output_bytes, content_events } = raw.state;
    const counting = name === 'server-tool' ? { output_bytes, content_events } : {};
    expect(raw.state).toEqual({ ...other.state, ...counting });
  });

  test('any split of the upstream bytes gives the same stream and state', () => {
    const whole = rawRelay();
    const expected = runRelay(whole, [Buffer.from(bytes)]);
    const other = canonical();
    const written = runRelay(other, [Buffer.from(bytes)]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const raw = rawRelay();
        expect(runRelay(raw, cutUp(bytes, cuts))).toBe(expected);
        expect(raw.state).toEqual(whole.state);
        expect(runRelay(canonical(), cutUp(bytes, cuts))).toBe(written);
      }),
      { numRuns: 60 },
    );
  });

  test('one byte at a time gives the same stream', () => {
    const expected = runRelay(rawRelay(), [Buffer.from(bytes)]);
    const each = Array.from({ length: bytes.length }, (_, i) => i);
    expect(runRelay(rawRelay(), cutUp(bytes, each))).toBe(expected);
  });

  test('CR LF line ends, and lone CR, give the same stream', () => {
    const expected = runRelay(rawRelay(), [Buffer.from(bytes)]);
    for (const end of ['\r\n', '\r']) {
      const other = Buffer.from(bytes.toString('utf8').replaceAll('\n', end));
      fc.assert(
        fc.property(fc.array(fc.nat(other.length), { maxLength: 8 }), (cuts) => {
          expect(runRelay(rawRelay(), cutUp(other, cuts))).toBe(expected);
        }),
        { numRuns: 15 },
      );
    }
  });

  test('servers that send neither event lines nor blanks after the colon are read alike', () => {
    const bare = bytes
      .toString('utf8')
      .replaceAll(/event: \w+\n/g, '')
      .replaceAll('data: ', 'data:');
    const stream = runRelay(rawRelay(), [Buffer.from(bare)]);
    expect(checkMessagesStream(stream, 'raw')).toEqual([]);
    expect(comparable(stream)).toEqual(comparable(runRelay(rawRelay(), [Buffer.from(bytes)])));
  });
});

test('what is not ours comes through byte for byte', () => {
  const bytes = fixture('unknown-event.sse');
  const stream = runRelay(rawRelay(), [Buffer.from(bytes)]);
  const events = bytes.toString('utf8').split('\n\n');
  for (const event of events.slice(1, -3)) expect(stream).toContain(`${event}\n\n`);
  expect(stream).toContain('"future":1');
  expect(stream).toContain('"context_management":null');
});

test('signatures come through byte for byte in both lanes, in one delta just before the stop', () => {
  const bytes = fixture('thinking.sse');
  const signature = /"signature_delta","signature":"([^"]+)"/.exec(bytes.toString('utf8'))?.[1];
  for (const relay of [rawRelay(), canonical()]) {
    const stream = runRelay(relay, [Buffer.from(bytes)]);
    expect(stream.split('signature_delta').length).toBe(2);
    expect(stream).toMatch(/signature_delta.*\n\nevent: content_block_stop/);
    expect(finalMessage(stream).message?.['content']).toMatchObject([{ type: 'thinking', signature }, {}]);
  }
});

test('digits of arguments beyond 2^53 come through in both lanes', () => {
  for (const relay of [rawRelay(), canonical()]) {
    expect(runRelay(relay, [fixture('tool.sse')])).toContain('12345678901234567890');
  }
});

test('id, model and svc are ours; nothing names the provider’s own id or model', () => {
  const stream = runRelay(rawRelay(), [fixture('text.sse')]);
  expect(stream).not.toContain('msg_01Text');
  expect(stream).not.toContain('claude-opus-4-5-20251101');
  const { message } = finalMessage(stream);
  expect(message).toMatchObject({ id: meta.request_id, model: meta.model });
  expect(message?.['svc']).toMatchObject({ request_id: meta.request_id, cost: { total_micro_usd: 1_234 } });
});

test('the finish is held until the end, everything before it goes out at once', () => {
  const relay = rawRelay();
  const bytes = fixture('text.sse');
  const sent = Buffer.from(relay.push(bytes)).toString('utf8');
  expect(sent).toContain('content_block_stop');
  expect(sent).not.toContain('message_delta');
  expect(relay.state).toMatchObject({ finished: true, stop: { reason: 'end_turn' } });
  expect(Buffer.from(relay.end(paid(counted))).toString('utf8')).toMatch(
    /^event: message_delta\n.*\n\nevent: message_stop/,
  );
});

test.each([
  ['raw', rawRelay],
  ['canonical', canonical],
])('a call stopped by credit ends as max_tokens with its open block closed (%s)', (_lane, make) => {
  const relay = make();
  const bytes = fixture('tools-parallel.sse').toString('utf8');
  for (const marker of ['"Pune', '"name":"ping"', 'Asia/']) {
    const relay = make();
    const head = Buffer.from(bytes.slice(0, bytes.indexOf('\n\n', bytes.indexOf(marker)) + 2));
    const sent = Buffer.from(relay.push(head)).toString('utf8');
    const last = relay.end({ ...paid(counted), stop: { reason: 'max_tokens' } });
    const stream = sent + Buffer.from(last).toString('utf8');
    expect(checkMessagesStream(stream)).toEqual([]);
    expect(finalMessage(stream).message).toMatchObject({ stop_reason: 'max_tokens' });
  }
  // Nothing at all came: still a whole, empty message.
  expect(checkMessagesStream(Buffer.from(relay.end(paid(counted))).toString('utf8'))).toEqual([]);
});

test('usage that the upstream leaves out is ours in the settled event', () => {
  const stream = runRelay(rawRelay(), [fixture('no-usage.sse')]);
  expect(finalMessage(stream).message?.['usage']).toMatchObject({ input_tokens: 7, output_tokens: 5 });
  const start = stream.split('\n\n')[0] ?? '';
  expect(start).toContain('"input_tokens":17');
});

test('cache writes keep their lifetimes', () => {
  const relay = rawRelay();
  runRelay(relay, [fixture('cache.sse')]);
  expect(relay.state.usage).toEqual({
    input_tokens: 21,
    output_tokens: 393,
    cache_read_tokens: 18_000,
    cache_write_tokens: 1_248,
    cache_write_5m_tokens: 1_000,
    cache_write_1h_tokens: 248,
    reasoning_tokens: 0,
    source: 'provider',
  });
  expect(relay.state.early_usage).toMatchObject({ input_tokens: 21, cache_read_tokens: 18_000 });
});

test('an error event after content is a fault with the class it would have had, and the caller’s error event', () => {
  const relay = rawRelay();
  const stream = runRelay(relay, [fixture('error-mid.sse')]);
  expect(relay.state.fault).toMatchObject({ class: 'stream', inner: 'overloaded', message: 'Overloaded' });
  expect(stream).not.toContain('message_stop');
  expect(stream).not.toContain('req_011CUpstream');
  expect(finalMessage(stream).error).toMatchObject({ error: { details: { error_code: 'upstream_error' } } });
});

test('a stream without a finish reason is truncated, never a clean end', () => {
  const relay = rawRelay();
  runRelay(relay, [fixture('cut.sse')]);
  expect(relay.state.fault).toMatchObject({ class: 'truncated' });
});

test('a last event without its blank line still counts; half an event does not', () => {
  const bytes = fixture('text.sse');
  const relay = rawRelay();
  const stream = runRelay(relay, [bytes.subarray(0, bytes.length - 1)]);
  expect(checkMessagesStream(stream, 'raw')).toEqual([]);
  const half = rawRelay();
  runRelay(half, [bytes.subarray(0, bytes.indexOf('"stop_reason":"end_turn"'))]);
  expect(half.state).toMatchObject({ stop: null, fault: { class: 'truncated' } });
});

test('bytes that are no events of the protocol are refused as such', () => {
  const relay = rawRelay();
  expect(() => relay.push(Buffer.from('event: message_start\ndata: {oops\n\n'))).toThrow('not JSON');
  const other = canonical();
  other.push(Buffer.from('event: message_start\ndata: {oops\n\n'));
  expect(other.state.fault).toMatchObject({ class: 'protocol' });
});

test('a caller who excludes reasoning gets none of it, in either lane', () => {
  const exclude = { ...meta, reasoning: 'exclude' as const };
  const stream = runRelay(messagesRawLane.relay(exclude, request(), target()), [fixture('thinking.sse')]);
  expect(checkMessagesStream(stream)).toEqual([]);
  expect(finalMessage(stream).message?.['content']).toMatchObject([
    { type: 'text', text: '27 * 453 = 12,231' },
  ]);
});

test('one read of unchanged events is passed on without a copy', () => {
  const relay = rawRelay();
  const bytes = fixture('text.sse');
  const at = bytes.indexOf('event: content_block_delta');
  relay.push(bytes.subarray(0, at));
  const read = bytes.subarray(at, bytes.indexOf('event: message_delta'));
  const out = relay.push(read) as Buffer;
  expect(out.buffer).toBe(read.buffer);
  expect(out.equals(read)).toBe(true);
});

test('silence is filled with pings, until the end', () => {
  const relay = rawRelay();
  expect(relay.keepAlive()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  relay.end(paid(counted));
  expect(relay.keepAlive()).toBe('');
});

test.each(['content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta'])(
  'a stream that begins with %s and no message_start is not the format, and none of it goes out',
  (type) => {
    const [, ...events] = fixture('text.sse').toString().split('\n\n');
    const from = events.findIndex((event) => event.startsWith(`event: ${type}`));
    expect(from).toBeGreaterThanOrEqual(0);
    const relay = rawRelay();
    expect(relay.push(Buffer.from('event: ping\ndata: {"type":"ping"}\n\n')).length).toBeGreaterThan(0);
    const rest = Buffer.from(events.slice(from).join('\n\n'));
    expect(() => relay.push(rest)).toThrow(ProtocolFault);
    expect(relay.state).toMatchObject({ semantic: false, output_bytes: 0, stop: null });
  },
);

test('a delta of the known form whose text is cut by the end of the event is a fault, and no text', () => {
  const relay = rawRelay();
  const delta = (text: string) =>
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,' +
    `"delta":{"type":"text_delta","text":"${text}`;
  const whole = fixture('text.sse').toString('utf8');
  const head = whole.slice(0, whole.indexOf('event: content_block_delta'));
  relay.push(Buffer.from(`${head}${delta('one')}"}}\n\n${delta('two')}"}}\n\n`));
  const { output_bytes } = relay.state;
  expect(() => relay.push(Buffer.from(`${delta('cut')}\n\n${delta('three')}"}}\n\n`))).toThrow(ProtocolFault);
  expect(relay.state.output_bytes).toBe(output_bytes);
});
