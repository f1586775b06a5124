// Bounds of media whose size is not known when the money is held (docs/money/pricing.md#holds).
import { expect, test } from 'vitest';
import { inputTokensBound } from '../../../pricing/index.ts';
import type { CanonicalRequest, Part } from '../../canonical/types.ts';
import { promptSize } from './prompt.ts';

function boundOf(part: Part, body = '{}'): number {
  const request = { messages: [{ role: 'user', content: [part] }] } as unknown as CanonicalRequest;
  return inputTokensBound(promptSize(request, Buffer.from(body)));
}

const url = 'https://media.example/a';

test('audio by address is held for as the longest that would be fetched', () => {
  const bytes = 20 * 1_024 * 1_024;
  expect(boundOf({ type: 'audio', src: { url } })).toBeGreaterThanOrEqual(bytes / 400);
  const sent = boundOf({ type: 'audio', src: { base64: 'A'.repeat(4_000), media_type: 'audio/wav' } });
  expect(sent).toBeLessThan(100);
});

test('a text given as base64 is held for as text, not as the pages of a PDF', () => {
  const words = Buffer.from('The quick brown fox jumps. '.repeat(10_000)).toString('base64');
  const of = (media_type: string): number => {
    const part: Part = { type: 'document', src: { base64: words, media_type } };
    return boundOf(part, JSON.stringify({ data: words }));
  };
  // About four bytes of text are a token.
  expect(of('text/plain')).toBeGreaterThanOrEqual(270_000 / 4);
  expect(of('text/csv; charset=utf-8')).toBeGreaterThanOrEqual(270_000 / 4);
  expect(of('application/pdf')).toBeLessThan(3_000);
});

test('ten minutes of video are held for as their provider counts them', () => {
  expect(boundOf({ type: 'video', src: { url } })).toBeGreaterThanOrEqual(600 * 300);
});
