// A provider that does not keep to its format cannot use up our memory or time: every reader bounds an event, the data that it
// holds back, and a stream as a whole; beyond the bound it reports a protocol fault.
import { describe, expect, test } from 'vitest';
import { Attempt } from '../../core/inference/call/attempt/attempt.ts';
import type { AttemptRecord } from '../../core/inference/call/types.ts';
import type { RawLane, Relay } from '../../core/inference/canonical/contract.ts';
import { canonicalRelay } from '../../core/inference/canonical/relay.ts';
import type { UpstreamFault } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { chat } from '../../core/inference/formats/openai-chat/caller/index.ts';
import { processClock } from '../../core/inference/index.ts';
import { ProtocolFault } from '../../core/inference/wire/fault.ts';
import { meta } from '../grammar/responses-cases.ts';
import { jsonEvent } from '../sim/providers/bedrock/event-stream.ts';
import {
  adapterOf,
  askedBy,
  families,
  type StreamFamily,
  targetOf,
  texts,
  type Wire,
  wireOf,
} from './wires.ts';

const { raw_lanes: rawLanes } = builtIn;

const MIB = 1024 * 1024;
const READ = 65_536;

function across(family: StreamFamily): Relay {
  return canonicalRelay(adapterOf(family).decoder(askedBy('chat'), targetOf(family)), chat.writer(meta));
}

interface Reader {
  readonly name: string;
  readonly wire: Wire;
  relay(): Relay;
}

const readers: readonly Reader[] = [
  ...families.map((family) => ({
    name: `decoder of ${family}`,
    wire: texts[family],
    relay: () => across(family),
  })),
  ...[...rawLanes.values()].map((lane: RawLane) => {
    const family = lane.family as StreamFamily;
    const relay = () => lane.relay(meta, askedBy(lane.dialect), targetOf(family));
    return { name: `raw lane of ${lane.dialect} on ${family}`, wire: wireOf(lane), relay };
  }),
];
const lines = readers.filter(({ wire }) => wire !== texts.bedrock_converse);

/** Pushes `piece` until it is refused; bytes pushed until then. Some readers throw what others keep in their state. */
function pushUntilFault(relay: Relay, piece: Buffer, most: number): { pushed: number; fault: string | null } {
  let pushed = 0;
  while (pushed <= most) {
    try {
      relay.push(piece);
    } catch (error) {
      return { pushed, fault: error instanceof ProtocolFault ? 'protocol' : String(error) };
    }
    pushed += piece.length;
    if (relay.state.fault !== null) return { pushed, fault: relay.state.fault.class };
  }
  return { pushed, fault: null };
}

const letters = Buffer.alloc(READ, 'a');

describe('one event without end', () => {
  test.each(lines)('is a protocol fault after 8 MiB, however it is broken into lines ($name)', (reader) => {
    const opening = Buffer.concat([reader.wire.open, reader.wire.chunk('a')]);
    const begun = [
      ['a line', Buffer.from('data: {"x":"'), letters],
      ['many lines', Buffer.alloc(0), Buffer.from(`data: ${'a'.repeat(1_000)}\n`)],
      ['lines of nothing', Buffer.alloc(0), Buffer.from('data\n'.repeat(2_000))],
    ] as const;
    for (const [what, start, piece] of begun) {
      const relay = reader.relay();
      relay.push(opening);
      relay.push(start);
      const { pushed, fault } = pushUntilFault(relay, piece, 16 * MIB);
      expect(fault, what).toBe('protocol');
      expect(pushed, what).toBeLessThan(9 * MIB);
    }
  });

  test('of Bedrock is a fault by the length that it announces, before any of it has come', () => {
    const relay = across('bedrock_converse');
    const [read] = [jsonEvent('contentBlockDelta', {})];
    relay.push(texts.bedrock_converse.open);
    const announced = Buffer.from(read as Buffer);
    announced.writeUInt32BE(20 * MIB, 0);
    relay.push(announced.subarray(0, 12));
    expect(relay.state.fault).toMatchObject({ class: 'protocol' });
  });
});

describe('an event that comes byte by byte, or line by line', () => {
  /** Microseconds of processor time for one event of `count` pieces. */
  function cost(relay: Relay, open: Buffer, piece: Buffer, count: number): number {
    relay.push(open);
    const before = process.cpuUsage();
    for (let i = 0; i < count; i++) relay.push(piece);
    const { user, system } = process.cpuUsage(before);
    if (relay.state.fault !== null) throw new Error(relay.state.fault.message);
    return user + system;
  }

  test.each(lines)('costs as much as it is long ($name)', (reader) => {
    for (const piece of [Buffer.from(': comment of a server\n'), Buffer.from('a')]) {
      const start = piece.length === 1 ? Buffer.from('data: "') : Buffer.alloc(0);
      const open = Buffer.concat([reader.wire.open, start]);
      const of = (count: number) => cost(reader.relay(), open, piece, count);
      of(2_000);
      let ratio = Number.POSITIVE_INFINITY;
      // Eight times the pieces; of a quadratic cost that is sixty-four times the work.
      for (let i = 0; i < 8 && ratio > 16; i++) ratio = Math.min(ratio, of(40_000) / Math.max(1, of(5_000)));
      expect(ratio, piece.toString()).toBeLessThanOrEqual(16);
    }
  });
});

describe('what a reader holds back until a part is complete', () => {
  const sse = (data: object) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
  const long = 'a'.repeat(MIB);
  const custom = { tools: [{ kind: 'custom' as const, name: 'patch' }] };
  const message = sse({ type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } });
  const blockOf = (content_block: object) => sse({ type: 'content_block_start', index: 0, content_block });
  const json = sse({
    ...{ type: 'content_block_delta', index: 0 },
    delta: { type: 'input_json_delta', partial_json: long },
  });
  const callDelta = (index: number, members: object) =>
    sse({ choices: [{ index: 0, delta: { tool_calls: [{ index, ...members }] }, finish_reason: null }] });
  const named = { function: { name: 'f', arguments: '{' } };
  const held: readonly [string, StreamFamily, Buffer, Buffer][] = [
    [
      'input of a custom tool',
      'anthropic_messages',
      Buffer.concat([message, blockOf({ type: 'tool_use', id: 't', name: 'patch', input: {} })]),
      json,
    ],
    [
      'input of a server tool',
      'anthropic_messages',
      Buffer.concat([message, blockOf({ type: 'server_tool_use', id: 't', name: 'web_search', input: {} })]),
      json,
    ],
    [
      'input of a custom tool',
      'bedrock_converse',
      jsonEvent('contentBlockStart', {
        ...{ contentBlockIndex: 0 },
        start: { toolUse: { toolUseId: 't', name: 'patch' } },
      }),
      jsonEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: long } } }),
    ],
    [
      'an image',
      'bedrock_converse',
      jsonEvent('contentBlockStart', { contentBlockIndex: 0, start: { image: { format: 'png' } } }),
      jsonEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { image: { source: { bytes: long } } } }),
    ],
    [
      'a call that waits for the one before',
      'openai_chat',
      Buffer.concat([callDelta(0, { id: 'a', ...named }), callDelta(1, { id: 'b', ...named })]),
      callDelta(1, { function: { arguments: long } }),
    ],
    [
      'an item that waits for the one before',
      'openai_responses',
      Buffer.concat([
        texts.openai_responses.open,
        sse({
          ...{ type: 'response.output_item.added', output_index: 1 },
          item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
        }),
      ]),
      sse({ type: 'response.function_call_arguments.delta', output_index: 1, delta: long }),
    ],
  ];

  test.each(held)('is bounded: %s (%s)', (_what, family, open, piece) => {
    const decoder = adapterOf(family).decoder(askedBy('chat', custom), targetOf(family));
    const relay = canonicalRelay(decoder, chat.writer(meta));
    relay.push(open);
    expect(relay.state.fault).toBeNull();
    const { pushed, fault } = pushUntilFault(relay, piece, 64 * MIB);
    expect(fault).toBe('protocol');
    expect(pushed).toBeGreaterThan(8 * MIB);
    expect(pushed).toBeLessThan(36 * MIB);
  });

  test('arguments of 50 MB in pieces go through as they come, and are not held', () => {
    const relay = across('anthropic_messages');
    relay.push(Buffer.concat([message, blockOf({ type: 'tool_use', id: 't', name: 'f', input: {} })]));
    for (let i = 0; i < 50; i++) expect(relay.push(json).length).toBeGreaterThan(MIB);
    expect(relay.state).toMatchObject({ fault: null, tool_calls: 1, output_bytes: 50 * MIB });
  });
});

describe('a stream as a whole', () => {
  /** Pushes `piece` into an attempt until it fails; the fault and the bytes pushed. */
  function attemptOf(
    open: Buffer,
    piece: Buffer,
  ): { fault: UpstreamFault | null; pushed: number; aborted: boolean } {
    const relay = across('openai_chat');
    const out = { fault: null as UpstreamFault | null, pushed: 0, aborted: false };
    const attempt = new Attempt(
      { started: 0, http_status: 0, ttft_ms: null, clock: processClock } as unknown as AttemptRecord,
      { relay, telling: { as: 'stream', relay } },
      {
        lane: null,
        classify: adapterOf('openai_chat').classify,
        times: { first_event_ms: 1_000, idle_ms: 1_000 },
        listener: {
          progressed: () => {},
          completed: () => {},
          failed: (_attempt, fault) => {
            out.fault = fault;
          },
          crashed: (_attempt, error) => {
            throw error;
          },
        },
      },
    );
    attempt.exchange = { sent: true, pause() {}, resume() {}, abort: () => (out.aborted = true) };
    attempt.head(200, { 'content-type': 'text/event-stream' });
    attempt.data(open);
    while (out.fault === null && out.pushed < 400 * MIB) {
      attempt.data(piece);
      out.pushed += piece.length;
    }
    return out;
  }
  const { open, chunk } = texts.openai_chat;
  const refused = { aborted: true, fault: { class: 'protocol', message: 'stream too long' } };

  test('that says nothing is given up after 32 MiB: what waits for the first content is kept', () => {
    const ended = attemptOf(open, Buffer.concat(Array.from({ length: 256 }, () => open)));
    expect(ended).toMatchObject(refused);
    expect(ended.pushed).toBeLessThan(33 * MIB);
  });

  test('is given up after 64 MiB of text', () => {
    const ended = attemptOf(open, chunk('a'.repeat(MIB)));
    expect(ended).toMatchObject(refused);
    expect(ended.pushed).toBeGreaterThan(64 * MIB);
    expect(ended.pushed).toBeLessThan(68 * MIB);
  });

  test('is given up after 256 MiB of whatever', () => {
    const padding = Buffer.from(`: ${'p'.repeat(MIB)}\n\n`);
    const ended = attemptOf(Buffer.concat([open, chunk('a')]), padding);
    expect(ended).toMatchObject(refused);
    expect(ended.pushed).toBeLessThan(260 * MIB);
  });
});
