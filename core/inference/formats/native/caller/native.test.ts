// The native wire: what is read, and that a stream and a whole answer say the same, cut or failed anywhere.

import { checkNativeStream, readNativeStream } from '@svc/test/grammar/native.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble, unfoldAnswer } from '../../../canonical/assemble.ts';
import type { CanonicalEvent, ReplyEnd, Stop } from '../../../canonical/types.ts';
import { end, meta, native, streams, whole, written } from './native.fixture.ts';

describe('a stream and a whole answer', () => {
  it.each(['include', 'exclude'] as const)('say exactly the same (reasoning: %s)', (reasoning) => {
    fc.assert(
      fc.property(streams, (events) => {
        const bytes = written(structuredClone(events), { reasoning });
        expect(checkNativeStream(bytes)).toEqual([]);
        const expected = whole(events, { reasoning });
        // Nothing told of a candidate but its being there: a stream has no event for that.
        expected.candidates.sort((a: { index: number }, b: { index: number }) => a.index - b.index);
        expect(readNativeStream(bytes)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('say the same when the answer is replayed', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const stored = JSON.parse(JSON.stringify(assemble(structuredClone(events))));
        const bytes = written(unfoldAnswer(stored));
        expect(checkNativeStream(bytes)).toEqual([]);
        expect(readNativeStream(bytes)).toEqual(JSON.parse(native.write(stored, meta, end)));
      }),
    );
  });

  it('follow the grammar wherever they are cut off or fail, and in whatever order events come', () => {
    const fault = { code: 'upstream_incomplete' as const, message: 'cut' };
    fc.assert(
      fc.property(streams, fc.nat(60), fc.boolean(), fc.boolean(), (events, at, fails, disorder) => {
        const writer = native.writer(meta);
        const some = disorder ? [...events].reverse() : events;
        let bytes = '';
        for (const event of some.slice(0, at)) bytes += writer.write(structuredClone(event));
        bytes += fails ? writer.fail(fault, end) : writer.end({ ...end, stop: { reason: 'max_tokens' } });
        expect(checkNativeStream(bytes)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('nothing of an attempt is written before its first content', () => {
    const writer = native.writer(meta);
    expect(writer.write({ type: 'start' })).toBe('');
    expect(
      writer.write({ type: 'part_start', candidate: 0, part: 0, content: { type: 'text', text: '' } }),
    ).toBe('');
    const failed = writer.fail({ code: 'upstream_error', message: 'failed' }, end);
    expect(checkNativeStream(failed)).toEqual([]);
    expect(failed.match(/^event: /gm)).toHaveLength(2);
  });

  it('tell of a limit only the candidates that had not stopped', () => {
    const events: CanonicalEvent[] = [
      { type: 'stop', candidate: 0, stop: { reason: 'end_turn' } },
      { type: 'part_start', candidate: 1, part: 0, content: { type: 'text', text: 'a' } },
    ];
    const cut: ReplyEnd = { ...end, stop: { reason: 'max_tokens' } };
    const writer = native.writer(meta);
    const bytes = events.map((event) => writer.write(event)).join('') + writer.end(cut);
    const answer = JSON.parse(native.write(assemble(events), meta, cut));
    expect(readNativeStream(bytes)).toEqual(answer);
    expect(answer.candidates.map(({ stop }: { stop: Stop }) => stop.reason)).toEqual([
      'end_turn',
      'max_tokens',
    ]);
  });
});
