// What the gateway does with bytes that no HTTP library of today would send, and with bodies that clients send to the end
// whatever is answered meanwhile.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { useWorld } from '../../test/calls/world.ts';

const LIMIT = 65_536;
const world = useWorld({ models: { chat: 1 }, env: { SVC_MAX_BODY_BYTES: String(LIMIT) } });

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
