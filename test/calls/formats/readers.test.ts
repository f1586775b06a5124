// Callers that read slowly, or not at all: the provider is slowed down with them, memory stays bounded, and what was
// produced is paid for.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { saidBy } from '../caller.ts';
import { endChunks, type Handler, streamHead, usageOf } from '../upstream.ts';
import { bodyOf, eventually, grammarFaults, idOf, priceOf, useWorld } from '../world.ts';

const world = useWorld({ gateway: 'alone' });
const PIECES = 800;
const PIECE_BYTES = 65_536;

/** Megabytes of resident memory of the gateway. */
function residentMegabytes(): number {
  const status = readFileSync(`/proc/${world().gateway.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** A stream of 50 MB with few words, each beside a long field of the provider's own; written as it is read. */
function bulky(model: string, progress: { pieces: number }): Handler {
  const padding = 'p'.repeat(PIECE_BYTES);
  const piece = `data: ${JSON.stringify({
    ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model, padding },
    choices: [{ index: 0, delta: { content: 'lorem ' }, finish_reason: null }],
  })}\n\n`;
  return (response) => {
    streamHead(response);
    const next = () => {
      while (progress.pieces < PIECES) {
        if (response.destroyed) return;
        progress.pieces++;
        if (!response.write(piece)) return void response.once('drain', next);
      }
      response.end(endChunks(model, usageOf(10, PIECES)));
    };
    next();
  };
}

/** Starts a bulky stream whose caller does not read, and waits until the provider is held up. */
async function unreadStream(svc: object = {}) {
  const org = await world().org();
  const { id, upstream } = world().model('script');
  const progress = { pieces: 0 };
  world().script.on(upstream, 'a', bulky(upstream, progress));
  const body = bodyOf(id, 'Hi', { stream: true, max_tokens: 2_000, svc });
  const exchange = world().chat(org.live_key, body, { unread: true });
  expect(await exchange.status).toBe(200);
  let before = -1;
  let still = 0;
  await eventually('the provider is held up', () => {
    still = progress.pieces === before ? still + 1 : 0;
    before = progress.pieces;
    return still > 30;
  });
  return { org, upstream, progress, exchange };
}

test('a caller that reads late gets everything; meanwhile the provider waits and memory is bounded', async () => {
  const memory = residentMegabytes();
  const { org, progress, exchange } = await unreadStream();
  expect(progress.pieces).toBeLessThan(PIECES / 2);
  expect(residentMegabytes() - memory).toBeLessThan(60);
  exchange.resume();
  const reply = await exchange.reply;
  expect(reply.complete).toBe(true);
  expect(saidBy(reply)).toBe('lorem '.repeat(PIECES));
  expect(grammarFaults('chat', reply)).toEqual([]);
  const ended = await world().ended(org, idOf(reply));
  expect(ended.charged).toBe(priceOf(10, PIECES));
  expect(ended.row).toMatchObject({ status: 'ok', usage_source: 'provider' });
});

test.concurrent('the idle clock stands still while the caller does not read', {
  timeout: 40_000,
}, async () => {
  const { org, exchange } = await unreadStream({ route: { timeouts: { idle_ms: 10_000 } } });
  const resumed_at = performance.now() + 11_000;
  await eventually('longer than the idle limit', () => performance.now() > resumed_at, 15_000);
  exchange.resume();
  const reply = await exchange.reply;
  expect(saidBy(reply)).toBe('lorem '.repeat(PIECES));
  expect((await world().ended(org, idOf(reply))).row).toMatchObject({ status: 'ok' });
});

test.concurrent('a caller that never reads is cut at its deadline and pays for what was produced', {
  timeout: 40_000,
}, async () => {
  const { org, upstream, progress } = await unreadStream({ route: { timeouts: { total_ms: 10_000 } } });
  await eventually(
    'the provider is let go',
    () => world().script.received(upstream)[0]?.left ?? null,
    20_000,
  );
  const { rows } = await eventually('the row', async () => {
    const found = await world().db.query<{ request_id: string }>(
      'select request_id from request_row where org_id = $1',
      [org.org_id],
    );
    return found.rows.length > 0 ? found : null;
  });
  const ended = await world().ended(org, rows[0]?.request_id ?? '');
  expect(ended.row.output_tokens).toBeGreaterThan(0);
  expect(ended.row.output_tokens).toBeLessThanOrEqual(progress.pieces);
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
  expect(ended.row.status).toBe('cancelled');
});

test.concurrent('a caller that reads a whole answer late gets all of it', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const body = bodyOf(id, 'sim: tokens=2000', { max_tokens: 2_000 });
  const exchange = world().chat(org.live_key, body, { unread: true });
  expect(await exchange.status).toBe(200);
  const { rows } = await eventually('the row', async () => {
    const found = await world().db.query<{ status: string }>(
      'select status from request_row where org_id = $1',
      [org.org_id],
    );
    return found.rows.length > 0 ? found : null;
  });
  expect(rows[0]?.status).toBe('ok');
  exchange.resume();
  const reply = await exchange.reply;
  expect(saidBy(reply)).toHaveLength(12_000);
});
