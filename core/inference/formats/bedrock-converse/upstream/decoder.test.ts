// The binary stream: any split of its bytes, damaged and cut messages, exceptions, and the forms of every block.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { splitAt } from '@svc/test/grammar/chat-fixtures.ts';
import { eventMessage, exceptionEvent, jsonEvent } from '@svc/test/sim/providers/bedrock/event-stream.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldEvents } from '../../../canonical/assemble.ts';
import type { CanonicalEvent, CanonicalRequest } from '../../../canonical/types.ts';
import { decodeAnswer } from './decode.ts';
import { ConverseDecoder } from './decoder.ts';
import { MESSAGE_MAX } from './frames.ts';
import { requestOf, targetOf } from './test-kit.ts';

interface Fixture {
  note: string;
  /** Messages in order: `[event, payload]`. */
  events: [string, unknown][];
  /** The same answer whole, where the API has one. */
  whole?: unknown;
  upstream_model?: string;
  request?: Partial<CanonicalRequest>;
  expected?: unknown;
}

const FOLDER = new URL('../fixtures/', import.meta.url);
const fixtures = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .sort()
  .map((file) => ({ file, ...(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Fixture) }));

function bytesOf(events: readonly [string, unknown][]): Buffer {
  return Buffer.concat(
    events.map(([name, body]) =>
      name.endsWith('Exception')
        ? exceptionEvent(name, (body as { message: string }).message)
        : jsonEvent(name, body),
    ),
  );
}

function decoderOf({ upstream_model, request }: Partial<Fixture> = {}): ConverseDecoder {
  return new ConverseDecoder(
    requestOf(request),
    targetOf({}, upstream_model === undefined ? {} : { upstream_model }),
  );
}

function decode(pieces: readonly Buffer[], fixture: Partial<Fixture> = {}): CanonicalEvent[] {
  const decoder = decoderOf(fixture);
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const text = (words: string): [string, unknown] => [
  'contentBlockDelta',
  { contentBlockIndex: 0, delta: { text: words }, p: 'abc' },
];
const start: [string, unknown] = ['messageStart', { role: 'assistant' }];
const stop: [string, unknown] = ['messageStop', { stopReason: 'end_turn' }];
const metadata: [string, unknown] = [
  'metadata',
  { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
];

describe('fixtures', () => {
  test.each(fixtures)('$file: $note', (fixture) => {
    const result = plain(foldEvents(decode([bytesOf(fixture.events)], fixture)));
    // UPDATE_FIXTURES=1 rewrites the expectation; a person reviews the difference.
    if (process.env['UPDATE_FIXTURES'] === '1') {
      const { file, ...kept } = fixture;
      writeFileSync(new URL(file, FOLDER), `${JSON.stringify({ ...kept, expected: result }, null, 2)}\n`);
      return;
    }
    expect(result).toEqual(fixture.expected);
    if (fixture.whole === undefined) return;
    const target = targetOf(
      {},
      fixture.upstream_model === undefined ? {} : { upstream_model: fixture.upstream_model },
    );
    const whole = decodeAnswer(
      Buffer.from(JSON.stringify(fixture.whole)),
      requestOf(fixture.request),
      target,
    );
    expect(plain({ answer: whole, fault: null })).toEqual(fixture.expected);
  });

  test('any split of the bytes gives the same events', () => {
    fc.assert(
      fc.property(fc.constantFrom(...fixtures), fc.array(fc.nat(), { maxLength: 60 }), (fixture, cuts) => {
        const bytes = bytesOf(fixture.events);
        expect(decode(splitAt(bytes, cuts), fixture)).toEqual(decode([bytes], fixture));
      }),
      { numRuns: 150 },
    );
  });

  test('so does every byte alone', () => {
    for (const fixture of fixtures) {
      const bytes = bytesOf(fixture.events);
      const single = Array.from(bytes, (_, i) => Buffer.from(bytes.subarray(i, i + 1)));
      expect(decode(single, fixture)).toEqual(decode([bytes], fixture));
    }
  });

  test('parts never interleave and are closed whatever the order of events', () => {
    const pool = [start, text('a'), stop, metadata, ...fixtures.flatMap(({ events }) => events)];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pool), { maxLength: 25 }), (events) => {
        let open: number | null = null;
        let next = 0;
        let failed = false;
        for (const event of decode([bytesOf(events)])) {
          if (event.type === 'part_start') {
            expect(open).toBeNull();
            expect(event.part).toBe(next++);
            open = event.part;
          } else if (event.type === 'part_delta') expect(open).toBe(event.part);
          else if (event.type === 'part_stop') {
            expect(open).toBe(event.part);
            open = null;
          } else if (event.type === 'error') failed = true;
        }
        if (!failed) expect(open).toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});

describe('broken streams', () => {
  const good = bytesOf([start, text('Hi'), stop, metadata]);
  const faultOf = (bytes: Buffer) => foldEvents(decode([bytes])).fault;

  test('a flipped bit anywhere is a protocol fault, never another answer', () => {
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(7), (at, bit) => {
        const bytes = Buffer.from(good);
        bytes[at] = bytes[at]! ^ (1 << bit);
        expect(faultOf(bytes)).toMatchObject({ class: 'protocol' });
      }),
      { numRuns: 400 },
    );
  });

  test('a stream cut at any byte before its stop is truncated; after it, it is whole', () => {
    const stopped = bytesOf([start, text('Hi'), stop]).length;
    for (let length = 0; length <= good.length; length++) {
      const fault = faultOf(good.subarray(0, length));
      if (length < stopped) expect(fault).toMatchObject({ class: 'truncated' });
      else expect(fault).toBeNull();
    }
  });

  test('an absurd length is refused at its prelude, before bytes are collected', () => {
    const prelude = (total: number, headers: number): Buffer => {
      const message = eventMessage({}, '');
      message.writeUInt32BE(total, 0);
      message.writeUInt32BE(headers, 4);
      return message;
    };
    expect(faultOf(prelude(0xffffffff, 0))).toMatchObject({ class: 'protocol', message: /damaged/ });
    const large = jsonEvent('contentBlockDelta', { p: 'x'.repeat(MESSAGE_MAX) });
    const decoder = decoderOf();
    expect(decoder.push(large.subarray(0, 12))).toMatchObject([
      { type: 'error', fault: { class: 'protocol', message: /too large/ } },
    ]);
    expect(decoder.push(large.subarray(12))).toEqual([]);
  });

  test('what came whole before the damage is kept, and nothing after it', () => {
    const bytes = Buffer.concat([
      bytesOf([start, text('kept')]),
      Buffer.alloc(64, 7),
      bytesOf([text('lost')]),
    ]);
    const { answer, fault } = foldEvents(decode([bytes]));
    expect(answer.candidates[0]?.content).toMatchObject([{ text: 'kept' }]);
    expect(fault).toMatchObject({ class: 'protocol' });
  });

  test.each([
    ['throttlingException', 'rate_limit'],
    ['serviceUnavailableException', 'overloaded'],
    ['internalServerException', 'server'],
    ['modelStreamErrorException', 'server'],
    ['validationException', 'client'],
    ['modelTimeoutException', 'timeout'],
    ['somethingNewException', 'server'],
  ])('exception %s is a fault of class stream, inside %s', (name, inner) => {
    const bytes = bytesOf([start, text('Hi'), [name, { message: 'why' }], stop]);
    expect(faultOf(bytes)).toMatchObject({ class: 'stream', inner, message: 'why', status: 200 });
  });

  test('a message of type error is one too', () => {
    const error = eventMessage(
      { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'm' },
      '',
    );
    expect(faultOf(Buffer.concat([bytesOf([start]), error]))).toMatchObject({
      class: 'stream',
      message: 'm',
    });
  });

  test('events that are not known, and payload that is not JSON in them, are passed over', () => {
    const odd = eventMessage({ ':message-type': 'event', ':event-type': 'somethingNew' }, 'not json');
    expect(faultOf(Buffer.concat([odd, good]))).toBeNull();
    const bad = eventMessage({ ':message-type': 'event', ':event-type': 'contentBlockDelta' }, '{"delta":');
    expect(faultOf(Buffer.concat([bad, good]))).toMatchObject({ class: 'protocol' });
  });

  test('bytes that are no event stream are a protocol fault, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 12, maxLength: 200 }), (bytes) => {
        expect(['protocol', 'truncated']).toContain(faultOf(Buffer.from(bytes))?.class);
      }),
    );
  });
});

test('20,000 small reads cost what they hold, not their square', () => {
  const bytes = jsonEvent('contentBlockDelta', {
    contentBlockIndex: 0,
    delta: { text: 'x'.repeat(2_000_000) },
  });
  const decoder = decoderOf();
  const began = performance.now();
  for (let at = 0; at < bytes.length; at += 100) decoder.push(Buffer.from(bytes.subarray(at, at + 100)));
  // Their square is twenty gigabytes of copies.
  expect(performance.now() - began).toBeLessThan(3_000);
});
