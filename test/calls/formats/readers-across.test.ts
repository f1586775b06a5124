// Callers that read slowly where their dialect is not the provider's: the writer between them does not run ahead, the
// data that waits for the caller stays bounded, and a caller that never reads is cut off. (The raw lane: readers.test.ts.)
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkResponsesStream } from '../../grammar/responses.ts';
import { finalResponse } from '../../grammar/responses-cases.ts';
import { type Exchange, open, saidBy } from '../caller.ts';
import { endChunks, type Handler, streamHead, textChunk, usageOf } from '../upstream.ts';
import { eventually, grammarFaults, idOf, type Org, priceOf, useWorld } from '../world.ts';

const PIECES = 400;
const PIECE = 'lorem '.repeat(10_923);
/** Its requests name the model in their path alone, so there is one script for all of them. */
const NAMELESS = 'undefined';

/** A model whose answers may be longer than any: none of its streams is cut by a cap. */
const bulkyModel = (provider: string, name: string) => `
  - id: calls/bulky-${name}
    name: bulky ${name}
    context_length: 20000000
    max_output: 10000000
    endpoints:
      - provider: ${provider}
        upstream_model: bulky-${name}
        region: local
        cancel_billing: stops
        price: { input: "1.25", output: "4.75" }`;

const world = useWorld({
  gateway: 'alone',
  extras: ({ script }) => ({
    providers: `
  - id: script-g
    name: script-g
    kind: gemini
    base_url: ${script.url}/g/v1beta
    api_key_env: [CALLS_KEY]
    data_policy: { trains: false, retention_days: 0, zdr: true }`,
    models: bulkyModel('script-g', 'g') + bulkyModel('script-a', 'a') + bulkyModel('script-a', 'a-unread'),
  }),
});

interface Way {
  readonly name: string;
  readonly path: string;
  readonly site: string;
  body(model: string): object;
  piece(model: string): string;
  end(model: string): string;
}

const gemini = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const messages = [{ role: 'user', content: 'Hi' }];
const chatOnGemini: Way = {
  name: 'chat on gemini',
  path: '/v1/chat/completions',
  site: 'g',
  body: (model) => ({ model, stream: true, messages }),
  piece: () => gemini({ candidates: [{ content: { role: 'model', parts: [{ text: PIECE }] } }] }),
  end: () =>
    gemini({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: PIECES },
    }),
};
const responsesOnChat: Way = {
  name: 'responses on chat',
  path: '/v1/responses',
  site: 'a',
  body: (model) => ({ model, stream: true, input: 'Hi' }),
  piece: (model) => textChunk(model, PIECE),
  end: (model) => endChunks(model, usageOf(10, PIECES)),
};

function residentMegabytes(): number {
  const status = readFileSync(`/proc/${world().gateway.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

/** A stream of 26 MB of text, written as it is read. */
function bulky(way: Way, model: string, progress: { pieces: number }): Handler {
  const piece = way.piece(model);
  return (response) => {
    streamHead(response);
    const next = () => {
      while (progress.pieces < PIECES) {
        if (response.destroyed) return;
        progress.pieces++;
        if (!response.write(piece)) return void response.once('drain', next);
      }
      response.end(way.end(model));
    };
    next();
  };
}

interface Unread {
  readonly org: Org;
  readonly model: string;
  readonly progress: { pieces: number };
  readonly exchange: Exchange;
}

/** Starts such a stream for a caller that does not read, and waits until the provider is held up. */
async function unreadStream(way: Way, name: string, svc: object = {}): Promise<Unread> {
  const org = await world().org(200_000_000);
  const id = `calls/bulky-${name}`;
  const upstream = way.site === 'g' ? NAMELESS : `bulky-${name}`;
  const progress = { pieces: 0 };
  world().script.on(upstream, way.site, bulky(way, upstream, progress));
  const exchange = open(world().gateway.base_url, {
    path: way.path,
    body: JSON.stringify({ ...way.body(id), svc }),
    headers: { authorization: `Bearer ${org.live_key}` },
    unread: true,
  });
  expect(await exchange.status).toBe(200);
  let before = -1;
  let still = 0;
  await eventually('the provider is held up', () => {
    still = progress.pieces === before ? still + 1 : 0;
    before = progress.pieces;
    return still > 30;
  });
  return { org, model: upstream, progress, exchange };
}

describe.concurrent('a caller that reads late gets everything; meanwhile the provider waits and memory is bounded', () => {
  // What a busy machine leaves uncollected only makes memory look larger: the best of three is judged.
  test.each([chatOnGemini, responsesOnChat])('$name', { retry: 2 }, async (way) => {
    const memory = residentMegabytes();
    const { org, progress, exchange } = await unreadStream(way, way.site);
    expect(progress.pieces).toBeLessThan(PIECES * 0.6);
    // Of all streams of this file together, which would come to 78 MB beside what repeats them.
    expect(residentMegabytes() - memory).toBeLessThan(120);
    exchange.resume();
    const reply = await exchange.reply;
    expect(reply.complete).toBe(true);
    const whole = PIECE.repeat(PIECES);
    if (way === chatOnGemini) {
      expect(saidBy(reply) === whole).toBe(true);
      expect(grammarFaults('chat', reply)).toEqual([]);
    } else {
      expect(finalResponse(reply.text).output[0].content[0].text === whole).toBe(true);
      expect(checkResponsesStream(reply.text)).toEqual([]);
    }
    const ended = await world().ended(org, idOf(reply));
    expect(ended.charged).toBe(priceOf(10, PIECES));
    expect(ended.row).toMatchObject({ status: 'ok', usage_source: 'provider', output_tokens: PIECES });
  });
});

test.concurrent('a caller that never reads is cut at its deadline and pays for what was produced', {
  timeout: 40_000,
}, async () => {
  const svc = { route: { timeouts: { total_ms: 10_000 } } };
  const { org, model, progress } = await unreadStream(responsesOnChat, 'a-unread', svc);
  await eventually('the provider is let go', () => world().script.received(model)[0]?.left ?? null, 20_000);
  const { rows } = await eventually('the row', async () => {
    const found = await world().db.query<{ request_id: string }>(
      'select request_id from request_row where org_id = $1',
      [org.org_id],
    );
    return found.rows.length > 0 ? found : null;
  });
  const ended = await world().ended(org, rows[0]?.request_id ?? '');
  expect(ended.row).toMatchObject({ status: 'cancelled', usage_source: 'estimate' });
  expect(ended.row.output_tokens).toBeGreaterThan(0);
  expect(ended.row.output_tokens).toBeLessThanOrEqual((progress.pieces * PIECE.length) / 6);
  expect(ended.charged).toBe(priceOf(ended.row.input_tokens, ended.row.output_tokens));
});
