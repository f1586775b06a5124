// Content is stored only where organization, key and request all allow it, redacted and encrypted, and no longer than set.
import { createPool } from '@svc/core/db/index.ts';
import { purgePayloads } from '@svc/core/payloads/index.ts';
import { describe, expect, test } from 'vitest';
import type { Json, Reply } from '../calls/caller.ts';
import { chunk, streamHead, textChunk } from '../calls/upstream.ts';
import { bodyOf, type Dialect, eventually, type Kind, send, useWorld } from '../calls/world.ts';
import { detailOf, manage, setPolicy, storedOf, tenantUnder } from './policy.ts';

const world = useWorld({ models: { chat: 24, messages: 8, script: 4, cross: 2 } });
const EMAIL = 'jane.planted@mail.example';
const DAY_MS = 86_400_000;
const idOf = (reply: Reply) => reply.headers['x-svc-request-id'] as string;
const textsOf = (content: Json[]) => content.map((part) => part['text']).join('');

/** Runs the retention job as of `days` from now. */
async function purgeIn(days: number): Promise<void> {
  const pool = createPool(world().database_url, { max: 1, role: 'svc_runtime' });
  try {
    await purgePayloads(pool, new Date(Date.now() + days * DAY_MS));
  } finally {
    await pool.end();
  }
}

describe('with logging on', () => {
  const lanes: [Dialect, Kind][] = [
    ['chat', 'chat'],
    ['messages', 'messages'],
    ['chat', 'messages'],
    ['messages', 'chat'],
  ];
  test.concurrent.each(
    lanes.flatMap(([dialect, kind]) => [false, true].map((stream) => ({ dialect, kind, stream }))),
  )('request and answer are kept: $dialect on $kind, stream $stream', async ({ dialect, kind, stream }) => {
    const org = await tenantUnder(world(), { logging: 'on', redact: { presets: ['email', 'card'] } });
    const { id } = world().model(kind);
    const who = dialect === 'chat' ? { user: 'user-4711' } : { metadata: { user_id: 'user-4711' } };
    const body = bodyOf(id, `tell ${EMAIL} sim: text=paid-4111-1111-1111-1111`, { stream, ...who });
    // Both words meet the gateway redacted; the answer's own card is not the caller's, and comes back whole.
    const reply = await send(world(), dialect, org.key, body, { headers: { 'x-sim': '' } }).reply;
    expect(reply.status).toBe(200);
    const detail = await detailOf(world(), org, idOf(reply));
    expect([detail['logged'], detail['payload_state']]).toEqual([true, 'available']);
    const { request, response } = detail as { request: Json; response: Json };
    expect(request['model']).toBe(id);
    expect(textsOf(request['messages'].at(-1).content)).toContain('tell [REDACTED:email]');
    expect(textsOf(response['candidates'][0].content).length).toBeGreaterThan(0);
    expect(response['candidates'][0].stop.reason).toBe('end_turn');
    expect(JSON.stringify([request, response])).not.toMatch(/user-4711|jane\.planted|4111-1111/);
  });

  test.concurrent('what the provider said is redacted before it is stored, and sealed where it lies', async () => {
    const org = await tenantUnder(world(), { logging: 'on', redact: { patterns: ['unmistak\\w+'] } });
    const { id, upstream } = world().model('script');
    world().script.on(upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(upstream, 'unmis'));
      response.write(textChunk(upstream, 'takable words, kept'));
      response.end(
        `${chunk(upstream, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 2 } })}data: [DONE]\n\n`,
      );
    });
    const reply = await world().chat(org.key, bodyOf(id, 'plainly visible', { stream: true })).reply;
    const detail = await detailOf(world(), org, idOf(reply));
    expect(textsOf(detail['response'].candidates[0].content)).toBe('[REDACTED:pattern_1] words, kept');
    const { rows } = await world().db.query<{ sealed: Buffer }>(
      'select sealed from request_payload where request_id = $1',
      [idOf(reply)],
    );
    expect(rows[0]?.sealed.length).toBeGreaterThan(100);
    for (const word of ['kept', 'visible', 'messages', 'role'])
      expect(rows[0]?.sealed.includes(word)).toBe(false);
  });

  test.concurrent('an answer cut in the middle is kept as far as it came, a refusal without any', async () => {
    const org = await tenantUnder(world(), { logging: 'on' });
    const { id } = world().model('chat');
    const cut = await world().chat(org.key, bodyOf(id, 'sim: tokens=40 cut_after=5', { stream: true })).reply;
    const { response } = await detailOf(world(), org, idOf(cut));
    expect(textsOf(response.candidates[0].content).length).toBeGreaterThan(0);
    expect(response.candidates[0].stop).toBe(null);
    const refused = await world().chat(org.key, bodyOf(id, 'sim: status=400')).reply;
    expect(refused.status).toBe(400);
    const detail = await detailOf(world(), org, idOf(refused));
    expect([detail['payload_state'], detail['response']]).toEqual(['available', null]);
  });

  test.concurrent('a call that no provider was asked for is not kept', async () => {
    const org = await tenantUnder(world(), { logging: 'on' });
    const reply = await world().chat(org.key, bodyOf('calls/nothing', 'Hi')).reply;
    expect(reply.status).toBe(404);
    const detail = await detailOf(world(), org, idOf(reply));
    expect([detail['logged'], detail['payload_state']]).toEqual([false, 'none']);
  });

  test.concurrent('a request of many messages is kept whole, though it is read in slices', async () => {
    const org = await tenantUnder(world(), { logging: 'on' });
    const messages = Array.from({ length: 5_000 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `${i}`,
    }));
    const reply = await world().chat(org.sandbox_key, { model: 'sandbox/echo', max_tokens: 16, messages })
      .reply;
    expect(reply.status).toBe(200);
    const { request } = await detailOf(world(), org, idOf(reply));
    expect(request.messages).toEqual(
      messages.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] })),
    );
  });

  test.concurrent('media are kept as their size alone', async () => {
    const org = await tenantUnder(world(), { logging: 'on' });
    const { id } = world().model('chat');
    const image = Buffer.alloc(3_000, 7).toString('base64');
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
    ];
    const body = { model: id, max_tokens: 16, messages: [{ role: 'user', content }] };
    const reply = await world().chat(org.key, body).reply;
    const { request } = await detailOf(world(), org, idOf(reply));
    expect(JSON.stringify(request)).toContain('[base64, 4000 characters]');
    expect(JSON.stringify(request)).not.toContain(image.slice(0, 40));
  });
});

describe('content is not kept', () => {
  const body = (id: string, more: object = {}) => bodyOf(id, 'not to be kept', more);
  async function expectNone(org: Awaited<ReturnType<typeof tenantUnder>>, reply: Reply): Promise<void> {
    expect(reply.status).toBe(200);
    const detail = await detailOf(world(), org, idOf(reply));
    expect([detail['logged'], detail['payload_state'], detail['request']]).toEqual([
      false,
      'none',
      undefined,
    ]);
    expect(await storedOf(world(), org)).toBe(0);
  }

  test.concurrent.each([
    ['of a new organization', {}],
    ['with ZDR on', { logging: 'on', zdr: true }],
    ['with a retention of no days', { logging: 'on', retention_days: 0 }],
  ] as const)('%s', async (_name, policy) => {
    const org = await tenantUnder(world(), policy);
    const { id } = world().model('chat');
    await expectNone(org, await world().chat(org.key, body(id, { stream: true })).reply);
  });

  test.concurrent('where the key forbids it', async () => {
    const org = await tenantUnder(world(), { logging: 'on' });
    const { id } = world().model('chat');
    for (const data_policy of [{ logging: 'off' }, { zdr: true }]) {
      const options = {
        project_id: org.project_id,
        environment: 'live',
        name: 'quiet',
        scopes: ['inference'],
      };
      const made = await manage(world(), org, {
        method: 'POST',
        path: '/v1/keys',
        body: { ...options, data_policy },
      });
      await expectNone(org, await world().chat(made.body['secret'], body(id)).reply);
    }
  });

  test.concurrent('where the request asks for zero retention', async () => {
    const org = await tenantUnder(world(), { logging: 'on' });
    const { id } = world().model('chat');
    for (const svc of [{ data_policy: 'zdr' }, { route: { require: { zdr: true } } }])
      await expectNone(org, await world().chat(org.key, body(id, { svc })).reply);
  });
});

describe('content goes', () => {
  async function logged(policy: object = {}) {
    const org = await tenantUnder(world(), { logging: 'on', ...policy });
    const { id } = world().model('chat');
    const reply = await world().chat(org.key, bodyOf(id, 'kept for a while')).reply;
    expect((await detailOf(world(), org, idOf(reply)))['payload_state']).toBe('available');
    return { org, id, request_id: idOf(reply) };
  }

  test('at once from sight and within the hour from the store when logging is switched off', async () => {
    const { org, id, request_id } = await logged();
    await setPolicy(world(), org, { logging: 'off' });
    const off = await detailOf(world(), org, request_id);
    expect([off['payload_state'], off['request']]).toEqual(['erased', undefined]);
    // Also where it is on again before the job comes by.
    await setPolicy(world(), org, { logging: 'on' });
    expect((await detailOf(world(), org, request_id))['payload_state']).toBe('erased');
    await eventually('a call is logged again', async () => {
      const reply = await world().chat(org.key, bodyOf(id, 'again')).reply;
      return (await detailOf(world(), org, idOf(reply)))['payload_state'] === 'available';
    });
    await purgeIn(0);
    expect((await detailOf(world(), org, request_id))['payload_state']).toBe('erased');
    const { rowCount } = await world().db.query('select 1 from request_payload where request_id = $1', [
      request_id,
    ]);
    expect(rowCount).toBe(0);
    expect(await storedOf(world(), org)).toBeGreaterThan(0);
    await setPolicy(world(), org, { logging: null });
    await purgeIn(0);
    expect(await storedOf(world(), org)).toBe(0);
  });

  test('after the days of its organization, not a day earlier', async () => {
    const { org } = await logged({ retention_days: 7 });
    const other = await logged({ retention_days: 30 });
    await purgeIn(6.9);
    expect(await storedOf(world(), org)).toBe(1);
    await purgeIn(7.1);
    expect([await storedOf(world(), org), await storedOf(world(), other.org)]).toEqual([0, 1]);
    await purgeIn(31);
    expect(await storedOf(world(), other.org)).toBe(0);
  });
});
