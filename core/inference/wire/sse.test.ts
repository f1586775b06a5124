import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolFault } from './fault.ts';
import { EVENT_BYTES_MAX, type SseEvent, SseReader } from './sse.ts';

function read(pieces: readonly Buffer[]): SseEvent[] {
  const reader = new SseReader();
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
}

const once = (text: string): SseEvent[] => read([Buffer.from(text)]);
const event = (data: string, name: string | null = null): SseEvent => ({ event: name, data });

describe('server-sent events', () => {
  it('ends lines at LF, CRLF and CR alike', () => {
    for (const eol of ['\n', '\r\n', '\r']) {
      expect(once(`event: e${eol}data: 1${eol}${eol}data: 2${eol}${eol}`)).toEqual([
        event('1', 'e'),
        event('2'),
      ]);
    }
  });

  it('joins several data lines and takes one space off each value', () => {
    expect(once('data: a\ndata:b\ndata:  c\ndata\n\n')).toEqual([event('a\nb\n c\n')]);
  });

  it('passes over comments, ids, retries, unknown fields and events without data', () => {
    expect(once(': hello\nid: 1\nretry: 5\nfoo: x\n\nevent: only\n\ndata: x\n\n')).toEqual([event('x')]);
  });

  it('takes a byte order mark off the first line only', () => {
    expect(once('\uFEFFdata: a\n\ndata: \uFEFFb\n\n')).toEqual([event('a'), event('\uFEFFb')]);
  });

  it('keeps U+2028 and other line separators of Unicode inside data', () => {
    expect(once('data: a\u2028b\u0085c\n\n')).toEqual([event('a\u2028b\u0085c')]);
  });

  it('gives the event that stood open when the connection closed', () => {
    expect(once('data: a\n\ndata: {"cut')).toEqual([event('a'), event('{"cut')]);
  });

  it('reads the same events from any split of the bytes', () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
      fc.constantFrom('', ': c', 'event: e', 'data', 'data:x'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r'))),
        fc.array(fc.nat()),
        (lines, cuts) => {
          // A CR directly before a line that begins with LF would be one line end: the lines never begin so.
          const bytes = Buffer.from(lines.map(([text, eol]) => text + eol).join(''));
          const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
          const pieces = [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
          expect(read(pieces)).toEqual(read([bytes]));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('refuses an event beyond its bound', () => {
    const reader = new SseReader();
    const piece = Buffer.alloc(1024 * 1024, 0x61);
    expect(() => {
      for (let i = 0; i * piece.length <= EVENT_BYTES_MAX; i++) reader.push(piece);
    }).toThrow(ProtocolFault);
    const lines = new SseReader();
    const line = Buffer.concat([Buffer.from('data: '), piece, Buffer.from('\n')]);
    expect(() => {
      for (let i = 0; i * piece.length <= EVENT_BYTES_MAX; i++) lines.push(line);
    }).toThrow(ProtocolFault);
  });
});
