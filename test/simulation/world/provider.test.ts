// Pieces of an answer keep their order on a connection, also where many are at one moment of the clock.
import { expect, test } from 'vitest';
import { Loop } from '../engine/loop.ts';
import { Providers } from './provider.ts';

const CHUNKS = 30;
/** A time so far away that two moments of a process's clock are a quarter of a millisecond apart. */
const FAR_MS = 2 ** 50;

test('pieces that go out at one moment arrive in their order', async () => {
  const loop = new Loop({ seed: 1, start_ms: FAR_MS });
  const providers = new Providers(loop);
  const call = { no: 1, model: 'crash/chat', behaviour: 'ok', chunks: CHUNKS, chunk_ms: 0, over_report: 0 };
  providers.plan(call as never);
  const body = Buffer.from(JSON.stringify({ stream: true, text: 'sim: mark=1 ' }));
  let text = '';
  const data = (part: Buffer) => {
    text += part;
  };
  const ended = new Promise<void>((end, error) => {
    const handler = { head: () => {}, data, end, error };
    providers.transport().send({ credentials: [] } as never, { body } as never, handler as never);
  });
  await loop.until(() => ended);
  const said = [...text.matchAll(/piece \d+|"finish_reason":"stop"|"usage"|\[DONE\]/g)].map(([what]) => what);
  const pieces = Array.from({ length: CHUNKS }, (_, n) => `piece ${n}`);
  expect(said).toEqual([...pieces, '"finish_reason":"stop"', '"usage"', '[DONE]']);
});
