import { writeFileSync } from 'node:fs';
import { chatFixtures, splitAt } from '@svc/test/grammar/chat-fixtures.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldEvents } from '../../../canonical/assemble.ts';
import type { CanonicalEvent } from '../../../canonical/types.ts';
import { ChatDecoder } from './decoder.ts';

const fixtures = chatFixtures();

function decode(pieces: readonly Buffer[], flags: readonly string[]): CanonicalEvent[] {
  const decoder = new ChatDecoder(flags);
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('decoder of OpenAI-type streams', () => {
  for (const { name, sse, flags, meta, file } of fixtures) {
    it(`reads ${name} (${meta.note}) as its expected canonical answer`, () => {
      const result = plain(foldEvents(decode([sse], flags)));
      // UPDATE_FIXTURES=1 rewrites the expectation; a person reviews the difference.
      if (process.env['UPDATE_FIXTURES'] === '1') {
        writeFileSync(file, `${JSON.stringify({ ...meta, expected: result }, null, 2)}\n`);
        return;
      }
      expect(result).toEqual(meta.expected);
    });

    it(`never interleaves parts and closes what it opens in ${name}`, () => {
      const open = new Map<number, number>();
      const next = new Map<number, number>();
      let failed = false;
      for (const event of decode([sse], flags)) {
        if (event.type === 'part_start') {
          expect(open.has(event.candidate)).toBe(false);
          expect(event.part).toBe(next.get(event.candidate) ?? 0);
          next.set(event.candidate, event.part + 1);
          open.set(event.candidate, event.part);
        } else if (event.type === 'part_delta') {
          expect(open.get(event.candidate)).toBe(event.part);
        } else if (event.type === 'part_stop') {
          expect(open.get(event.candidate)).toBe(event.part);
          open.delete(event.candidate);
        } else if (event.type === 'stop') {
          expect(open.has(event.candidate)).toBe(false);
        } else if (event.type === 'error') {
          failed = true;
        }
      }
      if (!failed) expect(open.size).toBe(0);
    });
  }

  it('gives the same events for any split of the bytes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fixtures),
        fc.array(fc.nat(), { maxLength: 40 }),
        ({ sse, flags }, cuts) => {
          expect(decode(splitAt(sse, cuts), flags)).toEqual(decode([sse], flags));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('gives the same events when every byte comes alone', () => {
    for (const { sse, flags } of fixtures) {
      const bytes = Array.from(sse, (_, i) => sse.subarray(i, i + 1));
      expect(decode(bytes, flags)).toEqual(decode([sse], flags));
    }
  });

  it('turns any garbage into events, never into an exception', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.json(), fc.string(), fc.constant('[DONE]'), fc.constant('{"choices":[{}]}')), {
          maxLength: 8,
        }),
        (lines) => {
          const bytes = Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(''));
          expect(Array.isArray(decode([bytes], []))).toBe(true);
        },
      ),
    );
  });

  it('reports a stream without finish and end mark as truncated', () => {
    const cut = fixtures.find(({ name }) => name === 'cut')!;
    expect(decode([cut.sse], []).at(-1)).toMatchObject({ type: 'error', fault: { class: 'truncated' } });
  });

  it('passes over an event of null', () => {
    const { sse } = fixtures[0]!;
    expect(decode([Buffer.from('data: null\n\n'), sse], [])).toEqual(decode([sse], []));
  });

  it('reports a chunk that is not JSON as a protocol fault', () => {
    const events = decode([Buffer.from('data: {"choices":[}\n\n')], []);
    expect(events).toEqual([
      { type: 'error', fault: { class: 'protocol', status: 200, message: expect.any(String) } },
    ]);
  });
});
