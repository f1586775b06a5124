// What the gateway does with bytes that no HTTP library of today would send, and with bodies that clients send to the end
// whatever is answered meanwhile.
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { useWorld } from '../../test/calls/world.ts';

const LIMIT = 65_536;
const world = useWorld({ models: { chat: 2, messages: 1 }, env: { SVC_MAX_BODY_BYTES: String(LIMIT) } });

/** Sends all pieces before anything is read; everything that came until the gateway closed. */
async function exchange(pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(world().gateway.port, '127.0.0.1');
  const failed = new Promise<never>((_, reject) => socket.on('error', reject));
  const sent = async () => {
    await once(socket, 'connect');
    for (const piece of pieces) if (!socket.write(piece)) await once(socket, 'drain');
  };
  await Promise.race([sent(), failed]);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  await Promise.race([once(socket, 'close'), failed]);
  return text;
}

const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] });
const chunked = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const head = (lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;

async function authorization(): Promise<string> {
  return `authorization: Bearer ${(await world().org()).sandbox_key}`;
}

test.each([
  ['HTTP/1.0 with a transfer coding', '1.0', ['host: a', 'transfer-encoding: chunked'], chunked],
  ['two hosts', '1.1', ['host: a', 'Host: b', `content-length: ${Buffer.byteLength(body)}`], body],
  ['the same host twice', '1.1', ['host: a', 'HOST: a', `content-length: ${Buffer.byteLength(body)}`], body],
])('%s is refused and the connection closed', async (_name, version, lines, sent) => {
  for (const path of ['/v1/chat/completions', '/v1/keys', '/nowhere']) {
    const start = `POST ${path} HTTP/${version}`;
    const text = await exchange([
      head([start, ...lines, await authorization(), 'content-type: application/json']) + sent,
    ]);
    expect(text, path).toMatch(/^HTTP\/1\.[01] 400 /);
    expect(text, path).toMatch(/\r\nconnection: close\r\n/i);
    expect(text, path).toContain('"invalid_request"');
  }
});

test.each([
  ['declared', `content-length: ${33 * 1_048_576}`, (bytes: Buffer) => bytes],
  [
    'in chunks',
    'transfer-encoding: chunked',
    (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]),
  ],
])(
  'a client that sends far too large a body to its end reads why it was refused: %s',
  async (name, line, framed) => {
    const start = ['POST /v1/chat/completions HTTP/1.1', 'host: a', line, await authorization()];
    const pieces = Array.from({ length: 33 }, () => framed(Buffer.alloc(1_048_576, 0x20)));
    const end = name === 'declared' ? '' : '0\r\n\r\n';
    // A second request on the same connection, whose answer ends it.
    const next = head(['GET /healthz HTTP/1.1', 'host: a', 'connection: close']);
    const text = await exchange([head([...start, 'content-type: application/json']), ...pieces, end + next]);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('"request_too_large"');
    expect(text).toMatch(/HTTP\/1\.1 200 /);
  },
);

test('what a key sends behind a refusal counts against its requests like a body', async () => {
  const org = await world().org(1_000, [{ name: 'limited', environment: 'test', rpm: 100 }]);
  const by = `authorization: Bearer ${org.keys[0]?.secret}`;
  const start = ['POST /v1/chat/completions HTTP/1.1', 'host: a', by, 'content-type: application/json'];
  const pieces = Array.from({ length: 33 }, () => Buffer.alloc(1_048_576, 0x20));
  const large = head([...start, `content-length: ${33 * 1_048_576}`]);
  const next = head([...start, `content-length: ${Buffer.byteLength(body)}`, 'connection: close']) + body;
  const text = await exchange([large, ...pieces, next]);
  const left = [...text.matchAll(/^x-ratelimit-remaining-requests: (\d+)/gim)].map(([, count]) =>
    Number(count),
  );
  expect(text).toMatch(/HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 /);
  // 33 for 33 MiB and one for the call behind it; those that came back meanwhile are fewer than ten.
  expect(left.at(-1)).toBeGreaterThanOrEqual(66);
  expect(left.at(-1)).toBeLessThan(76);
});

test.each(['QUERY', 'FOO', 'PURGE', 'TRACE'])(
  'the method %s is not allowed, and Allow says what is',
  async (method) => {
    const text = await exchange([head([`${method} /v1/keys?x=1 HTTP/1.1`, 'host: a', 'connection: close'])]);
    expect(text).toMatch(/^HTTP\/1\.1 405 /);
    expect(text).toMatch(/\r\nallow: GET, HEAD, OPTIONS, POST\r\n/i);
    expect(text).toContain('"method_not_allowed"');
    const nowhere = await exchange([head([`${method} /nowhere HTTP/1.1`, 'host: a', 'connection: close'])]);
    expect(nowhere).toMatch(/^HTTP\/1\.1 404 /);
  },
);

test.each([
  ['POST', '/chat/completions', 'Did you mean /v1/chat/completions?'],
  ['GET', '/models/sandbox/echo', 'Did you mean /v1/models/sandbox/echo?'],
  ['GET', '/', '/docs'],
])('%s %s says where to go', async (method, path, hint) => {
  const text = await exchange([head([`${method} ${path} HTTP/1.1`, 'host: a', 'connection: close'])]);
  expect(text).toMatch(/^HTTP\/1\.1 404 /);
  expect(text).toContain(hint);
});

describe('a member given twice', () => {
  const sent = async (path: string, text: string, more: object = {}) => {
    const org = await world().org();
    const answer = await fetch(`${world().gateway.base_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json', ...more },
      body: text,
    });
    return [answer.status, await answer.text()];
  };
  const refusedAt = (param: string) => [400, expect.stringContaining(`'${param}' occurs twice`)];

  test.each([
    ['/v1/chat/completions', '{"role":"user","content":"a","content":"b"}', 'messages[0].content'],
    [
      '/v1/messages',
      '{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}',
      'messages[0].content[0].text',
    ],
    ['/v1/svc/generate', '{"role":"user","role":"system","content":"a"}', 'messages[0].role'],
  ])('deep in a body is refused with its place: %s', async (path, message, param) => {
    const { id } = world().model(path === '/v1/messages' ? 'messages' : 'chat');
    const text = `{"model":"${id}","max_tokens":5,"messages":[${message}]}`;
    expect(await sent(path, text)).toEqual(refusedAt(param));
  });

  test('is refused for a model of the sandbox as for others, and by routes of management', async () => {
    const twice = body.replace('{', '{"model":"sandbox/slow",');
    expect(await sent('/v1/chat/completions', twice)).toEqual(refusedAt('model'));
    expect(await sent('/v1/keys', '{"name":"a","scopes":[],"name":"b"}')).toEqual(refusedAt('name'));
  });
});

/** One byte more than a connection may carry of a message, or two answers to the question where it ends. */
const smuggled: readonly [string, readonly string[], string][] = [
  [
    'a length and a transfer coding',
    [`content-length: ${Buffer.byteLength(body)}`, 'transfer-encoding: chunked'],
    chunked,
  ],
  ['two lengths', ['content-length: 5', `content-length: ${Buffer.byteLength(body)}`], body],
  ['a list of lengths', [`content-length: ${Buffer.byteLength(body)}, 5`], body],
  ['a signed length', [`content-length: +${Buffer.byteLength(body)}`], body],
  ['a transfer coding behind chunked', ['transfer-encoding: chunked, identity'], chunked],
  ['a transfer coding that nobody knows', ['transfer-encoding: xchunked'], chunked],
  ['a space before the colon', ['transfer-encoding : chunked'], chunked],
  [
    'a folded header',
    ['x-folded: a', ' transfer-encoding: chunked', `content-length: ${Buffer.byteLength(body)}`],
    body,
  ],
  [
    'a carriage return in a header',
    [`x-bare: a\rtransfer-encoding: chunked`, `content-length: ${Buffer.byteLength(body)}`],
    body,
  ],
  ['a null in a header', [`x-null: a\0b`, `content-length: ${Buffer.byteLength(body)}`], body],
  ['a chunk size that is no number', ['transfer-encoding: chunked'], `0x${chunked}`],
  ['a chunk size with a sign', ['transfer-encoding: chunked'], `-${chunked}`],
  ['a chunk size beyond all numbers', ['transfer-encoding: chunked'], `${'f'.repeat(17)}\r\n${body}`],
  ['a chunk that is longer than its size', ['transfer-encoding: chunked'], `5\r\n${body}\r\n0\r\n\r\n`],
  ['a bare line feed behind a chunk size', ['transfer-encoding: chunked'], chunked.replace('\r\n', '\n')],
];

test.each(smuggled)('%s is refused, and nothing behind it is served', async (_name, lines, sent) => {
  const start = ['POST /v1/chat/completions HTTP/1.1', 'host: a', ...lines, await authorization()];
  const second = head(['GET /healthz HTTP/1.1', 'host: a', 'connection: close']);
  const text = await exchange([head([...start, 'content-type: application/json']) + sent + second]);
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

test.each([
  ['no host', ['GET /healthz HTTP/1.1']],
  ['an empty line in the request line', ['GET /healthz HTTP/1.1 x', 'host: a']],
  ['a version of its own', ['GET /healthz HTTP/1.2', 'host: a']],
])('a request with %s is refused', async (_name, lines) => {
  const text = await exchange([head([...lines, 'connection: close'])]);
  expect(text).toMatch(/^HTTP\/1\.1 (?:400|505) /);
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});
