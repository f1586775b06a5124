// What an organization's policy names never leaves: proven by what the providers were sent.
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, saidBy, svcOf } from '../calls/caller.ts';
import { chunk, endChunks, streamHead, textChunk, usageOf } from '../calls/upstream.ts';
import {
  bodyOf,
  type Dialect,
  eventually,
  expectBooksInOrder,
  type Kind,
  send,
  useWorld,
} from '../calls/world.ts';
import { detailOf, manage, setPolicy, tenantUnder } from './policy.ts';

const world = useWorld({ models: { chat: 18, messages: 8, script: 4 } });
const everything = {
  redact: { presets: ['api_key', 'email', 'card', 'aadhaar', 'pan', 'phone'], patterns: [] },
};
const SECRET = 'sk-proj-plantedsecret0123456789';
const EMAIL = 'jane.planted@mail.example';
const planted = [SECRET, EMAIL, '4111 1111 1111 1111', '2341 2341 2346', 'ABCPE1234F', '+91 98765 43210'];
const PLANTED = /plantedsecret|jane\.planted|4111 1111|2341 2341|ABCPE1234F|98765 43210/;

/** A conversation that holds what is planted wherever a caller can put text. */
function conversation(dialect: Dialect, model: string, mark: string, stream: boolean): object {
  const text = `mark=${mark} ${planted.join(' , ')}`;
  const args = { to: EMAIL, note: `key ${SECRET}` };
  if (dialect === 'messages') {
    return {
      ...{ model, max_tokens: 64, stream, system: `Answer ${EMAIL}`, metadata: { user_id: EMAIL } },
      tools: [{ name: 'mail', description: `to ${EMAIL}`, input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: `first ${SECRET}` }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'mail', input: args }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: `sent to ${EMAIL}` },
            { type: 'text', text },
          ],
        },
      ],
    };
  }
  return {
    ...{ model, max_tokens: 64, stream, user: EMAIL, metadata: { who: EMAIL } },
    tools: [
      {
        type: 'function',
        function: { name: 'mail', description: `to ${EMAIL}`, parameters: { type: 'object' } },
      },
    ],
    messages: [
      { role: 'system', content: `Answer ${EMAIL}` },
      { role: 'user', content: [{ type: 'text', text: `first ${SECRET}` }] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'mail', arguments: JSON.stringify(args) } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: `sent to ${EMAIL}` },
      { role: 'user', content: text },
    ],
  };
}

/** The call that carried `mark`, as its provider received it. */
function sent(mark: string): Json {
  const found = world().sim.calls.filter((call) => call.mark === mark);
  expect(found).toHaveLength(1);
  return found[0] as unknown as Json;
}

test('end users that are named by their addresses stay apart where addresses are redacted, in every dialect', async () => {
  const org = await tenantUnder(world(), everything);
  const hashes = new Set<string>();
  for (const user of ['ann@mail.example', 'bob@mail.example'])
    for (const dialect of ['chat', 'messages'] as const) {
      const { id } = world().model(dialect);
      const mark = `named-${dialect}-${user.slice(0, 3)}`;
      const name = dialect === 'chat' ? { user } : { metadata: { user_id: user } };
      const body = { ...(conversation(dialect, id, mark, false) as Json), ...name };
      const reply = await send(world(), dialect, org.key, body).reply;
      expect(reply.status, reply.text).toBe(200);
      const detail = await detailOf(world(), org, reply.headers['x-svc-request-id'] as string);
      hashes.add(detail['user_hash'] as string);
      // No provider is told the address.
      expect(JSON.stringify(sent(mark))).not.toContain(user);
      const found = await manage(world(), org, {
        ...{ method: 'POST', path: '/v1/privacy/export', body: { user_id: user } },
      });
      expect(found.body).toMatchObject({ subject_hash: detail['user_hash'] });
    }
  expect(hashes.size).toBe(2);
});

describe('what the presets name', () => {
  const lanes: [Dialect, Kind][] = [
    ['chat', 'chat'],
    ['messages', 'messages'],
    ['chat', 'messages'],
    ['messages', 'chat'],
  ];
  test.concurrent.each(
    lanes.flatMap(([dialect, kind]) => [false, true].map((stream) => ({ dialect, kind, stream }))),
  )('never reaches a provider: $dialect on $kind, stream $stream', async ({ dialect, kind, stream }) => {
    const org = await tenantUnder(world(), everything);
    const { id } = world().model(kind);
    const mark = `${dialect}-${kind}-${stream}`;
    const reply = await send(world(), dialect, org.key, conversation(dialect, id, mark, stream)).reply;
    expect([reply.status, errorOf(reply)]).toEqual([200, null]);
    const { body, headers } = sent(mark);
    const received = JSON.stringify([body, headers]);
    expect(received).not.toMatch(PLANTED);
    for (const preset of everything.redact.presets) expect(received).toContain(`[REDACTED:${preset}]`);
    const warnings = svcOf(reply)?.['warnings'] as Json[];
    expect(warnings.map(({ code }) => code)).toContain('content_redacted');
    const { row } = await world().ended(org, reply.headers['x-svc-request-id'] as string);
    expect(JSON.stringify(row)).not.toMatch(PLANTED);
  });

  const said = (mark: string) => `mark=${mark} ${planted.join(' , ')}`;
  test.concurrent.each([
    ['/v1/responses', (mark: string) => ({ max_output_tokens: 64, user: EMAIL, input: said(mark) })],
    ['/v1/completions', (mark: string) => ({ max_tokens: 64, user: EMAIL, prompt: said(mark) })],
    [
      '/v1/svc/generate',
      (mark: string) => ({
        messages: [{ role: 'user', content: [{ type: 'text', text: said(mark) }] }],
        generation: { max_tokens: 64 },
        metadata: { who: EMAIL },
      }),
    ],
  ] as const)('never reaches a provider by way of %s', async (path, bodyFor) => {
    const org = await tenantUnder(world(), everything);
    const { id } = world().model('chat');
    const mark = path.replaceAll('/', '-');
    const reply = await manage(
      world(),
      { live_key: org.key },
      { method: 'POST', path, body: { model: id, ...bodyFor(mark) } },
    );
    expect([reply.status, reply.body['error'] ?? null]).toEqual([200, null]);
    const received = JSON.stringify(sent(mark)['body']);
    expect(received).not.toMatch(PLANTED);
    for (const preset of everything.redact.presets) expect(received).toContain(`[REDACTED:${preset}]`);
  });

  test.concurrent('never reaches the second provider either, nor the rows by way of headers', async () => {
    const org = await tenantUnder(world(), everything);
    const script = world().model('script');
    const { id } = world().model('chat');
    world().script.on(script.upstream, 'a', (response) => {
      response.writeHead(503).end('{}');
    });
    const body = conversation('chat', script.id, 'second', false);
    const reply = await world().chat(
      org.key,
      { ...body, svc: { route: { fallback_models: [id] } } },
      { headers: { 'x-svc-metadata': JSON.stringify({ owner: EMAIL }), 'x-svc-app': 'app' } },
    ).reply;
    expect(reply.status).toBe(200);
    expect(JSON.stringify(world().script.received(script.upstream))).not.toMatch(PLANTED);
    expect(JSON.stringify(sent('second')['body'])).not.toMatch(PLANTED);
    const { row } = await world().ended(org, reply.headers['x-svc-request-id'] as string);
    expect(row.tags).toEqual({ owner: '[REDACTED:email]', who: '[REDACTED:email]' });
  });

  test.concurrent('leaves the end-user id what it is: two users are two', async () => {
    const org = await tenantUnder(world(), everything);
    const { id } = world().model('chat');
    const hashes = new Set<string>();
    for (const user of ['a@b.co', 'c@d.co']) {
      const reply = await world().chat(org.key, bodyOf(id, 'Hi', { user })).reply;
      const { row } = await world().ended(org, reply.headers['x-svc-request-id'] as string);
      hashes.add((row as unknown as { user_hash: string }).user_hash);
    }
    expect(hashes.size).toBe(2);
  });

  test.concurrent('reaches the provider of an organization without redaction', async () => {
    const org = await tenantUnder(world(), {});
    const { id } = world().model('chat');
    const reply = await world().chat(org.key, conversation('chat', id, 'plain', false)).reply;
    expect(svcOf(reply)?.['warnings']).toEqual([]);
    expect(JSON.stringify(sent('plain')['body'])).toContain(SECRET);
  });
});

test.concurrent('the caller receives the answer as the provider gave it', async () => {
  const org = await tenantUnder(world(), everything);
  const { id, upstream } = world().model('script');
  world().script.on(upstream, 'a', (response) => {
    streamHead(response);
    response.write(
      chunk(upstream, {
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
      }),
    );
    response.write(textChunk(upstream, `write to ${EMAIL}`));
    response.end(endChunks(upstream, usageOf(5, 5)));
  });
  const reply = await world().chat(org.key, bodyOf(id, 'Hi', { stream: true })).reply;
  expect(saidBy(reply)).toBe(`write to ${EMAIL}`);
});

describe("an organization's own patterns", () => {
  test.concurrent('are applied before anything leaves', async () => {
    const org = await tenantUnder(world(), { redact: { presets: ['email'], patterns: ['PRJ-\\d+'] } });
    const { id } = world().model('chat');
    const reply = await world().chat(org.key, bodyOf(id, `mark=own PRJ-4711 of ${EMAIL}`)).reply;
    expect(reply.status).toBe(200);
    expect(sent('own')['body'].messages[0].content).toBe('mark=own [REDACTED:pattern_1] of [REDACTED:email]');
  });

  // Not beside others: it keeps a thread of the search busy for seconds, and those behind it may wait in vain.
  test('that take too long refuse the call: nothing is sent, nothing charged', async () => {
    const org = await tenantUnder(world(), { redact: { patterns: ['a.*b|a'] } });
    const { id, upstream } = world().model('script');
    const reply = await world().chat(org.key, bodyOf(id, 'a'.repeat(300_000))).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'invalid_pattern']);
    expect(world().script.received(upstream)).toEqual([]);
    await expectBooksInOrder(world(), org);
  });

  test.concurrent('are refused where they cannot run, and the policy stays as it was', async () => {
    const org = await tenantUnder(world(), { redact: { presets: ['email'] } });
    const path = `/v1/orgs/${org.org_id}`;
    for (const [redact, code, param] of [
      [{ patterns: ['ok', '(?=x)y'] }, 'invalid_pattern', 'data_policy.redact.patterns[1]'],
      [{ patterns: ['x*'] }, 'invalid_pattern', 'data_policy.redact.patterns[0]'],
      [{ presets: ['passport'] }, 'invalid_request', 'data_policy.redact.presets[0]'],
      [{ pattern: [] }, 'invalid_request', 'data_policy.redact.pattern'],
    ] as const) {
      const { status, body } = await manage(world(), org, {
        method: 'PATCH',
        path,
        body: { data_policy: { redact } },
      });
      expect([status, body['error'].code, body['error'].param]).toEqual([400, code, param]);
    }
    const { body } = await manage(world(), org, { method: 'GET', path });
    expect(body['data_policy'].redact).toEqual({ presets: ['email'], patterns: [] });
  });
});

// A busy machine only makes what is measured longer, so one good run of three is proof.
test.concurrent('a change of the policy reaches the running gateway within a second', {
  retry: 2,
}, async () => {
  const org = await tenantUnder(world(), {});
  const { id } = world().model('chat');
  const says = async (mark: string) => {
    await world().chat(org.key, bodyOf(id, `mark=${mark} ${EMAIL}`)).reply;
    return JSON.stringify(sent(mark)['body']);
  };
  const own = crypto.randomUUID().slice(0, 8);
  expect(await says(`before-${own}`)).toContain(EMAIL);
  await setPolicy(world(), org, everything);
  const from = performance.now();
  let n = 0;
  await eventually('the redacting call', async () => !(await says(`after-${own}-${++n}`)).includes(EMAIL));
  expect(performance.now() - from).toBeLessThan(1_000);
});
