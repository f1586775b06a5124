// What docs/outcomes.md and docs/money/pricing.md say of money, on the families that came later: callers that leave, by how
// the provider bills them; every kind of line; and each row recomputed by `svcctl price check`.
import { execFile } from 'node:child_process';
import { command as priceCheck } from '@svc/cli/commands/price-check.ts';
import { describe, expect, test } from 'vitest';
import { AS_PROVIDER_SENT } from '../../answers/record.ts';
import { ledgersEnv } from '../../support/books.ts';
import { type Exchange, type Json, open, type Reply, svcOf } from '../caller.ts';
import {
  ask,
  type Surface,
  type TaskKind,
  taskExtras,
  taskModel,
  UNIT_MICRO,
} from '../formats/tasks-world.ts';
import type { Handler, Received } from '../upstream.ts';
import { eventually, idOf, type Org, priceOf, useWorld, uuidOf } from '../world.ts';
import { CHAT, leaving, lines, model, PIECE, provider, slug, wholeOf } from './family-bills.ts';
import { type Script, type ScriptName, scripts } from './money-wires.ts';

const world = useWorld({
  env: { CALLS_BEDROCK_KEY: 'bedrock-api-key-one' },
  extras: ({ script, sim }) => ({
    providers:
      taskExtras({ script, sim }).providers +
      (Object.keys(scripts) as ScriptName[]).map((name) => provider(script.url, name)).join(''),
    models:
      taskExtras({ script, sim }).models +
      leaving.map(({ family, billing }) => model(slug(family, billing), family, { billing })).join('') +
      lines.map(({ family, rates }, n) => model(`line-${n}`, family, { rates })).join(''),
  }),
});

// Two of the families name the model in the path alone; one handler of each site finds the script by it.
const handlers = new Map<string, Handler>();
const calls: { model: string; received: Received }[] = [];

function onCall(script: Script, id: string, handler: Handler): void {
  handlers.set(`fam-${id}`, handler);
  const find: Handler = (response, received) => {
    const said = `${received.path} ${String(received.body['model'])}`;
    const name = /(fam-[a-z0-9-]+)/.exec(said)?.[1] ?? '';
    calls.push({ model: name, received });
    (handlers.get(name) as Handler)(response, received);
  };
  world().script.on('undefined', script.site, find);
  world().script.on(`fam-${id}`, script.site, find);
}

function send(
  org: Org,
  path: string,
  members: Json,
  headers: Readonly<Record<string, string>> = {},
): Exchange {
  return open(world().gateway.base_url, {
    path,
    body: JSON.stringify(members),
    headers: { authorization: `Bearer ${org.live_key}`, ...headers },
  });
}

function bodyOf(path: string, id: string, stream: boolean): Json {
  // Long enough to have the tokens of the bills below.
  const content = 'Say something. '.repeat(70);
  const head = { model: `fam/${id}`, stream };
  if (path === '/v1/responses') return { ...head, input: content };
  if (path === '/v1/completions') return { ...head, prompt: content, max_tokens: 2_000 };
  const text = path === '/v1/svc/generate' ? [{ type: 'text', text: content }] : content;
  const cap = path === '/v1/svc/generate' ? { generation: { max_tokens: 2_000 } } : { max_tokens: 2_000 };
  return { ...head, messages: [{ role: 'user', content: text }], ...cap };
}

describe.concurrent('a caller that leaves in the middle', () => {
  test.each(leaving)('of $family ($billing)', async ({ family, billing }) => {
    const script = scripts[family];
    const id = slug(family, billing);
    const org = await world().org();
    let finish = () => {};
    onCall(script, id, (response) => {
      response.writeHead(200, { 'content-type': script.content_type });
      response.write(Buffer.concat([script.open(null), script.text(PIECE)]));
      finish = () => response.end(script.close(script.usage({ input: 90, output: 700, cached: 0 })));
    });
    const exchange = send(org, CHAT, bodyOf(CHAT, id, true));
    await exchange.until((text) => text.includes('ipsum'));
    exchange.leave();
    await exchange.reply;
    // An answer to what was asked after the leaving: the gateway has seen both.
    await fetch(`${world().gateway.base_url}/healthz`);
    const call = calls.find(({ model: name }) => name === `fam-${id}`) as (typeof calls)[number];
    if (billing === 'stops') await eventually('the provider is let go', () => call.received.left);
    else finish();
    const row = await eventually('the row', async () => {
      const { rows } = await world().db.query('select * from request_row where org_id = $1', [org.org_id]);
      return rows[0] ?? null;
    });
    const ended = await world().ended(org, row.request_id);
    const { input_tokens, output_tokens } = ended.row;
    expect(ended.row.status).toBe('cancelled');
    expect(ended.charged).toBe(priceOf(input_tokens, output_tokens));
    if (billing === 'stops') {
      expect(ended.row).toMatchObject({ usage_source: 'estimate', output_tokens: PIECE.length / 6 });
      expect(ended.attempts).toEqual(['cancelled client_gone']);
    } else {
      expect(call.received.left).toBe(false);
      expect([input_tokens, output_tokens, ended.row.usage_source]).toEqual([90, 700, 'provider']);
      expect(ended.attempts).toEqual(['ok']);
    }
  });
});

/** The cost that an answer reports. */
function costReported(reply: Reply): Json {
  const { text } = reply;
  const last = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: {') + 6).split('\n')[0];
  const { cost, response } = JSON.parse(last ?? '') as Json;
  return svcOf(reply)?.['cost'] ?? response?.svc?.cost ?? cost;
}

describe.concurrent('lines of a bill', () => {
  const all = lines.flatMap((line, n) => [true, false].map((stream) => ({ ...line, n, stream })));
  test.each(all)('$name (stream $stream)', async ({ family, path, usage, asks, n, stream, ...want }) => {
    const script = scripts[family];
    const org = await world().org();
    const id = `line-${n}`;
    onCall(script, id, (response, received) => {
      // A raw lane asks for whole answers where its caller does; the simulators give those.
      if (received.body['stream'] !== true && !received.path.includes('tream')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify(wholeOf(family, usage)));
      }
      response.writeHead(200, { 'content-type': script.content_type });
      response.end(Buffer.concat([script.open(null), script.text(PIECE), script.close(usage)]));
    });
    const reply = await send(org, path, { ...bodyOf(path, id, stream), ...asks }).reply;
    expect(reply.status, reply.text).toBe(200);
    const ended = await world().ended(org, idOf(reply));
    const reported = costReported(reply);
    expect(
      (reported['lines'] as Json[]).map(({ kind, units, micro_usd }) => [kind, units, micro_usd]),
    ).toEqual(want.lines);
    expect(ended.charged).toBe(want.lines.reduce((sum, [, , micro]) => sum + micro, 0));
    expect(reported['total_micro_usd']).toBe(ended.charged);
    const checked = await checkPrice(idOf(reply));
    expect(checked).toMatchObject({ ok: true, verdict: 'exact', settled_micro_usd: ended.charged });
    const shown = (checked['lines'] as Json[]).map(({ kind, units, micro_usd }) => [kind, units, micro_usd]);
    expect(shown).toEqual(want.lines);
    const { cost } = await generationOf(org, reply);
    expect(cost).toMatchObject({ total_micro_usd: ended.charged, lines: reported['lines'] });
  });
});

describe.concurrent('the bill of a task', () => {
  const documents = ['green apple pie', 'a red car'];
  const tasks: readonly [Surface, TaskKind, object][] = [
    ['/v1/embeddings', 'openai', { input: ['one text', 'another'] }],
    ['/v1/svc/embed', 'cohere', { input: ['one text', 'another'] }],
    ['/v1/svc/rerank', 'rank', { query: 'apple', documents }],
    ['/v1/svc/rerank', 'rank-voyage', { query: 'apple', documents }],
  ];
  test.each(tasks)('%s on %s is what its row recomputes to', async (path, kind, members) => {
    const org = await world().org();
    const reply = await ask(world(), org, path, { model: taskModel(kind).id, ...members });
    expect(reply.status, reply.text).toBe(200);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.charged).toBe(Number(reply.headers['x-svc-cost-micro']));
    expect(ended.charged).toBe(
      kind === 'rank' ? UNIT_MICRO : Math.floor(ended.row.input_tokens * 1.25 + 0.5),
    );
    expect(ended.charged).toBeGreaterThan(0);
    expect(await checkPrice(idOf(reply))).toMatchObject({
      ...{ ok: true, verdict: 'exact' },
      ...{ settled_micro_usd: ended.charged, recomputed_micro_usd: ended.charged },
    });
    const { cost } = await generationOf(org, reply);
    expect(cost).toMatchObject({ total_micro_usd: ended.charged, lines: reply.json['cost']?.lines ?? {} });
  });
});

describe('svcctl price check', () => {
  test('is right of a ranking, and DIFFERS when a unit of its record is changed', async () => {
    const org = await world().org();
    const documents = Array.from({ length: 3 }, (_, n) => `document ${n}`);
    const body = { model: taskModel('rank').id, query: 'apple', documents };
    const id = idOf(await ask(world(), org, '/v1/svc/rerank', body));
    await world().ended(org, id);
    const right = await svcctl('price', 'check', id);
    expect(right.code).toBe(0);
    expect(right.out).toMatch(/search_unit +1 x +2000000 nano-USD = 2000\n/);
    expect(right.out).toMatch(/total 2000 micro-USD at pv_\w+: right\n/);
    await world().db.query(`update ledger.meter set other_units = '{1,2}' where request_id = $1`, [
      uuidOf(id),
    ]);
    const wrong = await svcctl('price', 'check', id);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('DIFFERS: settled 2000, recomputed 4000');
  });

  test('is right of an answer that was insured', async () => {
    const org = await world().org();
    const id = `line-${lines.findIndex(({ name }) => name.startsWith('a fee for the request'))}`;
    onCall(scripts.openaiChat, id, (response) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: null }];
      const usage = { prompt_tokens: 100, completion_tokens: 0 };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }),
      );
    });
    const reply = await send(org, CHAT, bodyOf(CHAT, id, false), AS_PROVIDER_SENT).reply;
    expect(reply.status, reply.text).toBe(200);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row).toMatchObject({ input_tokens: 100, output_tokens: 0, status: 'ok' });
    const insured = { ok: true, verdict: 'exact', insured: true, settled_micro_usd: 0, lines: [] };
    expect(await checkPrice(idOf(reply))).toMatchObject(insured);
    expect((await generationOf(org, reply))['cost']).toMatchObject({ total_micro_usd: 0, lines: [] });
  });
});

interface Reported {
  readonly code: number;
  readonly out: string;
}

/** The output of `svcctl`, and its exit code. */
function svcctl(...args: string[]): Promise<Reported> {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    SVC_DATABASE_URL: world().database_url,
    ...ledgersEnv(world().database_url),
    SVC_DATA_DIR: '/nonexistent',
  };
  const bin = new URL('../../../cli/bin/svcctl.js', import.meta.url).pathname;
  return new Promise((done) => {
    execFile(process.execPath, [bin, ...args], { env }, (error, out) =>
      done({ code: error === null ? 0 : Number(error.code), out }),
    );
  });
}

/** The generation record of an answered call. */
async function generationOf(org: Org, reply: Reply): Promise<Json> {
  const response = await fetch(`${world().gateway.base_url}/v1/generation/${idOf(reply)}`, {
    headers: { authorization: `Bearer ${org.live_key}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Json;
}

/** What `svcctl price check` says of a call. */
async function checkPrice(request_id: string): Promise<Json> {
  const { database_url } = world();
  Object.assign(process.env, { SVC_DATABASE_URL: database_url, ...ledgersEnv(database_url) });
  const { json } = await priceCheck.run({ positionals: [request_id], options: {} } as never);
  return json as Json;
}
