// What surrounds the routes that take calls: preflights and wrong methods, the document that names them, and bodies that
// are compressed, or longer than anyone thought of.
import { request } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { builtIn } from '@svc/core/inference/index.ts';
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, open, type Reply } from './caller.ts';
import { bodyOf, idOf, useWorld } from './world.ts';

const { dialects, questions } = builtIn;

const world = useWorld({ models: { chat: 30, messages: 20 } });
const routes = [...dialects.keys(), ...questions.keys()];
const ORIGIN = 'https://app.example.com';

/** A request without a body. */
function ask(method: string, path: string, headers: Record<string, string> = {}) {
  return new Promise<Pick<Reply, 'status' | 'text'> & { headers: Json }>((done, fail) => {
    const url = new URL(path, world().gateway.base_url);
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes) => {
        text += bytes;
      });
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    outgoing.on('error', fail);
    outgoing.end();
  });
}

describe.concurrent.each(routes)('%s', (path) => {
  test('answers the preflight of a browser', async () => {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' };
    const { status, headers } = await ask('OPTIONS', path, { origin: ORIGIN, ...asked });
    expect(status).toBe(204);
    expect(headers['access-control-allow-methods']).toContain('POST');
    expect(headers['access-control-allow-headers']).toContain('x-api-key');
  });

  test('tells a wrong method from an unknown path, with or without a body to read', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const { status, headers, text } = await ask(method, path);
      expect(status).toBe(405);
      expect(headers['allow']).toBe('OPTIONS, POST');
      expect(headers['request-id']).toBe(headers['x-request-id']);
      if (method !== 'HEAD') expect(JSON.parse(text).error.code).toBe('method_not_allowed');
    }
  });

  test('stands in the document of the service', async () => {
    const { text } = await ask('GET', '/openapi.json');
    expect(JSON.parse(text).paths[path]).toHaveProperty('post.operationId');
  });
});

describe.concurrent('a compressed body', () => {
  test.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['Deflate', deflateSync],
    ['br', brotliCompressSync],
    ['Identity', Buffer.from],
    ['', Buffer.from],
  ] as const)('is read whatever the case of its coding: %j', async (coding, encode) => {
    const org = await world().org();
    const text = JSON.stringify(bodyOf(world().model('chat').id, 'Hi'));
    const reply = await open(world().gateway.base_url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${org.live_key}`, 'content-encoding': coding },
      body: encode(Buffer.from(text)),
    }).reply;
    expect(reply.status).toBe(200);
  });
});

/** Sends `body` as HTTP/1.0, which some proxies speak, and reads until the connection ends. */
function postOld(path: string, key: string, body: string): Promise<string> {
  const { port, hostname } = new URL(world().gateway.base_url);
  const head = [
    ...[`POST ${path} HTTP/1.0`, `authorization: Bearer ${key}`, 'content-type: application/json'],
    ...[`content-length: ${Buffer.byteLength(body)}`, '', body],
  ];
  return new Promise((done, fail) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(head.join('\r\n')));
    socket.on('data', (bytes) => {
      text += bytes;
    });
    socket.on('error', fail);
    socket.on('end', () => done(text));
  });
}

describe.concurrent('a caller of HTTP/1.0', () => {
  test.each([
    ['/v1/chat/completions', 'chat', 'data: [DONE]\n\n'],
    ['/v1/chat/completions', 'messages', 'data: [DONE]\n\n'],
    ['/v1/messages', 'messages', 'data: {"type":"message_stop"}\n\n'],
  ] as const)('gets a whole stream of %s on %s, and pays for it', async (path, kind, last) => {
    const org = await world().org();
    const body = bodyOf(world().model(kind).id, 'sim: tokens=3', { stream: true });
    const text = await postOld(path, org.live_key, JSON.stringify(body));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*content-type: text\/event-stream/);
    expect(text).not.toMatch(/\r\ntrailer:/i);
    expect(text.endsWith(last)).toBe(true);
    expect(text).not.toContain('"error"');
    const ended = await world().ended(org, /\r\nx-svc-request-id: (\w+)/.exec(text)?.[1] ?? '');
    expect(ended.row).toMatchObject({ status: 'ok', error_code: '' });
    expect(ended.charged).toBeGreaterThan(0);
  });
});

/** Posts `text`, JSON that no object could hold. */
async function post(kind: 'chat' | 'messages', members: (model: string) => string) {
  const org = await world().org(20_000_000);
  const { id, upstream } = world().model(kind);
  const reply = await open(world().gateway.base_url, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${org.live_key}` },
    body: `{"model":"${id}","max_tokens":16,${members(id)}}`,
  }).reply;
  return { org, reply, upstream };
}

describe.concurrent('a number with more digits than a double has', () => {
  const hi = '"messages":[{"role":"user","content":"Hi"}]';
  test.each(['chat', 'messages'] as const)('is a number in every lane (%s)', async (kind) => {
    for (const member of [
      '"seed":12345678901234567891',
      '"temperature":0.1000000000000000055511151231257827',
    ]) {
      const { reply } = await post(kind, () => `${hi},${member}`);
      expect([member, reply.status, errorOf(reply)]).toEqual([member, 200, null]);
    }
  });
});

describe.concurrent('a body of very many small things', () => {
  test('is read, however many parts a message has, and is no fault of the gateway', async () => {
    const parts = `${'{"type":"text","text":""},'.repeat(33_000)}{"type":"text","text":"Hi"}`;
    for (const kind of ['chat', 'messages'] as const) {
      const { reply } = await post(kind, () => `"messages":[{"role":"user","content":[${parts}]}]`);
      expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'context_length_exceeded']);
    }
  });

  test('is refused before it is read where they would take the memory of all, and few bytes when compressed', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const body = gzipSync(`{"model":"${id}","messages":[],"x":[${'{},'.repeat(10_000_000)}{}]}`);
    expect(body.length).toBeLessThan(100_000);
    const reply = await open(world().gateway.base_url, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${org.live_key}`, 'content-encoding': 'gzip' },
      body,
    }).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([413, 'request_too_large']);
  });

  test('leaves the row no longer than any other, and what became of the call first', async () => {
    const names = Array.from({ length: 200 }, (_, i) => `{"role":"user","content":"${i}","name":"n${i}"}`);
    const { org, reply } = await post('messages', () => `"messages":[${names.join(',')}]`);
    expect(reply.status).toBe(200);
    const { warnings } = (await world().ended(org, idOf(reply))).row;
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toEqual({ code: 'more', count: 180 });
  });
});

describe.concurrent('a body that nests deeper than the stack can follow', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const parameters = `{"enum":${deep}}`;
  const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
  const hi = '"messages":[{"role":"user","content":"Hi"}]';
  const called =
    `"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"a":${deep}}}]},` +
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]';
  const flat = `"input":"Hi","tools":[{"type":"function","name":"f","parameters":${parameters}}]`;
  test.each([
    ['/v1/chat/completions', 'written for another family', `${hi},${tools}`, {}],
    ['/v1/chat/completions', 'compared with an earlier call', `${hi},${tools}`, { 'idempotency-key': 'k' }],
    ['/v1/messages', 'read', called, {}],
    ['/v1/responses', 'repeated in the answer', flat, {}],
    ['/v1/responses/input_tokens', 'sent to be counted', flat, {}],
  ])('%s: is refused as such where it is %s, and free', async (path, _name, members, headers) => {
    const org = await world().org();
    const { id } = world().model('messages');
    const cap = path.startsWith('/v1/responses') ? '' : '"max_tokens":16,';
    const reply = await open(world().gateway.base_url, {
      path,
      headers: { authorization: `Bearer ${org.live_key}`, ...headers },
      body: `{"model":"${id}",${cap}${members}}`,
    }).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'invalid_json']);
    expect(reply.headers['x-should-retry']).toBe('false');
    if (path.endsWith('_tokens')) return;
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, row: { status: 'rejected', error_code: 'invalid_json' } });
  });
});
