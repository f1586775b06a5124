// A gateway that dies or is told to stop, and a database that is away (docs/outcomes.md#the-gateway-itself).
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import { migrate } from '@svc/core/db/index.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBook, withClient } from '../support/books.ts';
import { untilReady } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { addUsualLedgers } from '../support/shards.ts';
import { errorOf, eventsOf, type Reply, saidBy, svcOf } from './caller.ts';
import { bodyOf, eventually, grammarFaults, idOf, openWorld, useWorld, type World } from './world.ts';

const PACED = 'sim: tokens=400 chunks=100 chunk_ms=100';

describe('a gateway', () => {
  const world = useWorld({
    gateway: 'alone',
    env: { SVC_LEDGER_LEASE_SECONDS: '2', SVC_DRAIN_SECONDS: '3' },
  });

  test('killed in mid-call charges nothing: the hold is swept and the row says what happened (docs/outcomes.md#gateway-killed)', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const stream = world().chat(org.live_key, bodyOf(id, PACED, { stream: true, max_tokens: 500 }));
    await stream.until((text) => text.includes('ipsum'));
    const request_id = eventsOf(stream.text())[0]?.['id'] as string;
    await world().gateway.kill();
    expect((await stream.reply).complete).toBe(false);
    await world().restart();
    const ended = await world().ended(org, request_id);
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error gateway_lost'] });
    expect(ended.row).toMatchObject({ status: 'error', error_code: 'internal' });
    expect((await world().chat(org.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
  }, 90_000);

  test('that is stopped finishes what it can, ends the rest uncharged, and takes nothing new (docs/outcomes.md#gateway-stops)', async () => {
    const org = await world().org();
    const body = (text: string, more: object = {}) =>
      bodyOf(world().model('chat').id, text, { max_tokens: 500, stream: true, ...more });
    const agent = new Agent({ keepAlive: true });
    const long = world().chat(org.live_key, body(PACED));
    const whole = world().messages(org.live_key, body(PACED, { stream: false }));
    const silent = world().chat(org.live_key, body('sim: delay_ms=20000'));
    await long.until((text) => text.includes('lorem'));
    await eventually('three have arrived', () => world().sim.stats().open_calls === 3);
    // Last, so that it still runs however long the others took to arrive.
    const short = world().chat(org.live_key, body('sim: tokens=20 chunks=10 chunk_ms=100'));
    await short.until((text) => text.includes('lorem'));
    const stopped = world().gateway.stop();
    const refused = await eventually('new calls are refused', async () => {
      const reply = await postOn(agent, world(), org.live_key, body('Hi'));
      return reply.status === 503 ? reply : null;
    });
    expect(errorOf(refused)).toMatchObject({ code: 'overloaded', type: 'overloaded_error' });
    expect(refused.headers).toMatchObject({
      connection: 'close',
      'x-should-retry': 'true',
      'retry-after': '1',
    });
    const shown = await short.reply;
    expect(saidBy(shown)).toHaveLength(120);
    expect(errorOf(shown)).toBeNull();
    const cut = await long.reply;
    expect(cut.status).toBe(200);
    expect(grammarFaults('chat', cut)).toEqual([]);
    expect(errorOf(cut)?.['code']).toBe('overloaded');
    expect(svcOf(cut)?.['cost'].total_micro_usd).toBe(0);
    const [unanswered, unbegun] = await Promise.all([whole.reply, silent.reply]);
    expect([unanswered.status, unbegun.status]).toEqual([529, 503]);
    expect(await stopped).toBe(0);
    const rows = await world().db.query<{ status: string; error_code: string; cost_micro: string }>(
      `select status, error_code, cost_micro from request_row where org_id = $1 order by cost_micro`,
      [org.org_id],
    );
    const said = rows.rows.map(({ status, error_code }) => `${status} ${error_code}`.trim());
    expect(said.filter((one) => one === 'error overloaded')).toHaveLength(3);
    expect(said.at(-1)).toBe('ok');
    const ended = await world().ended(org, idOf(shown));
    expect(ended.charged).toBeGreaterThan(0);
    const book = await readBook(world().database_url, org.live_book_id);
    expect(book.charges.filter(({ request_id }) => request_id !== idOf(shown)).length).toBeLessThanOrEqual(
      said.filter((one) => one === 'ok').length - 1,
    );
    agent.destroy();
  }, 60_000);
});

function postOn(agent: Agent, world: World, key: string, body: object): Promise<Reply> {
  return new Promise((done, fail) => {
    const outgoing = request(`${world.gateway.base_url}/v1/chat/completions`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    outgoing.on('error', fail);
    outgoing.on('response', (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => {
        text += bytes.toString();
      });
      const headers = response.headers as Record<string, string>;
      response.on('end', () => {
        done({ status: response.statusCode ?? 0, headers, trailers: {}, text, complete: true });
      });
    });
    outgoing.end(JSON.stringify(body));
  });
}

describe('PostgreSQL', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-calls-pg-'));
  let postgres: Postgres;
  let world: World;
  const start = async (port: number) => startTestPostgres({ dir, port, settings: { fsync: 'off' } });

  beforeAll(async () => {
    postgres = await start(await freePort());
    await withClient(postgres.url, (client) => client.query('create database calls'));
    const database_url = postgres.urlOf('calls');
    await migrate(database_url);
    await addUsualLedgers(database_url);
    world = await openWorld({ database_url, gateway: 'alone', env: { SVC_LEDGER_LEASE_SECONDS: '2' } });
  });
  afterAll(async () => {
    await world?.close();
    await postgres.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test('away at the settle: the answer comes with its cost, and is charged once after all died and came back (docs/outcomes.md#database-away-at-the-settle)', async () => {
    const org = await world.org();
    const { id, upstream } = world.model('chat');
    const text = 'sim: tokens=20 chunks=10 chunk_ms=60';
    const stream = world.chat(org.live_key, bodyOf(id, text, { stream: true }));
    await stream.until((seen) => seen.includes('lorem'));
    await postgres.kill();
    const reply = await stream.reply;
    expect(errorOf(reply)).toBeNull();
    expect(grammarFaults('chat', reply)).toEqual([]);
    const cost = svcOf(reply)?.['cost'].total_micro_usd as number;
    expect(cost).toBeGreaterThan(0);
    expect(reply.trailers['x-svc-cost-micro']).toBe(String(cost));

    const refused = await world.chat(org.live_key, bodyOf(world.model('chat').id, 'Hi')).reply;
    expect(refused.status).toBe(503);
    expect(errorOf(refused)).toMatchObject({ code: 'service_unavailable', type: 'overloaded_error' });
    expect(errorOf(refused)?.['details'].component).toMatch(/^(ledger|postgres)$/);
    expect(refused.headers).toMatchObject({ 'x-should-retry': 'true', 'x-svc-attempts': '0' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(world.sim.calls.map(({ model }) => model)).toEqual([upstream]);

    await world.gateway.kill();
    postgres = await start(postgres.port);
    await world.restart();
    await untilReady(`${world.gateway.base_url}/readyz`, () => null);
    const book = await eventually(
      'the journal is booked',
      async () => {
        const read = await readBook(world.database_url, org.live_book_id);
        return read.held === 0 && read.charges.length > 0 ? read : null;
      },
      20_000,
    );
    expect(book.charges).toEqual([{ request_id: idOf(reply), amount: -cost }]);
    expect(book.available).toBe(org.balance - cost);
    expect((await world.chat(org.live_key, bodyOf(id, 'Hi')).reply).status).toBe(200);
  }, 60_000);
});
